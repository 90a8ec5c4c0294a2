import { deepStrictEqual as deepEqual } from 'node:assert';
import fc from 'fast-check';
import t from 'tap';
import { deadLetterQuery } from '../../../pipeline/dead-letters/find.js';
import type { Selection } from '../../../pipeline/dead-letters/contract.js';
import type { DeadLetterState } from '../../../pipeline/dead-letters/replay-machine.js';
import { messageIdOf, stateOf, withState } from '../../../pipeline/dead-letters/state.js';
import { printQuery } from '../../../search/language/print.js';

const replays = fc.nat(1_000);
const epoch = fc.nat(100_000);
const plain = { noNullPrototype: true };
const states: fc.Arbitrary<DeadLetterState> = fc.oneof(
  fc.record({ state: fc.constant('open' as const), replays }, plain),
  fc.record(
    {
      state: fc.constant('targeted' as const),
      replays,
      epoch,
      tombstones: fc.dictionary(fc.string({ minLength: 1 }), fc.string(), plain),
    },
    plain,
  ),
  fc.record({ state: fc.constant('replayed' as const), replays, epoch }, plain),
  fc.record({ state: fc.constant('dropped' as const), replays }, plain),
);

t.test('a state comes back from its document as it was, whatever stood there before', async (t) => {
  fc.assert(
    fc.property(states, states, (before, after) => {
      const first = JSON.parse(JSON.stringify(withState({ code: 'X', raw: 'r' }, before, {}))) as Record<
        string,
        unknown
      >;
      const second = JSON.parse(JSON.stringify(withState(first, after, { code: 'Y' }))) as Record<string, unknown>;
      deepEqual(stateOf(first), before);
      deepEqual(stateOf(second), after);
      deepEqual([second['code'], second['raw']], ['Y', 'r']);
    }),
    { seed: 7, numRuns: 200 },
  );
  t.same(stateOf({ code: 'X' }), { state: 'open', replays: 0 }, 'a letter from before there were states is open');
});

t.test('the message of a dead letter', async (t) => {
  t.equal(messageIdOf('0190-0001-02@sluice_default'), '0190-0001-02');
  t.equal(messageIdOf('0190-ffff-02'), '0190-ffff-02');
  t.equal(messageIdOf('sluice.logs/0/2/17@'), 'sluice.logs/0/2/17');
});

t.test('filters become one query', async (t) => {
  const print = (selection: Partial<Selection>): string =>
    printQuery(deadLetterQuery({ state: 'all', query: { kind: 'all' }, ...selection }));
  t.equal(print({}), '*');
  t.equal(
    print({ code: 'A_B', receiver: 'tcp one', indexSet: 'sluice_default' }),
    'code:A_B AND receiver:tcp\\ one AND index_set:sluice_default',
  );
  t.match(print({ peer: '10.0.0.1' }), /peer:"?10\.0\.0\.1"? OR peer:10\.0\.0\.1\\?:\*/);
  t.match(print({ peer: '::1' }), /\[.*1.*\].*:\*/, 'an IPv6 address stands in brackets');
  t.match(print({ state: 'open' }), /NOT/);
  t.match(print({ state: 'dropped', query: { kind: 'exists', field: 'raw' } }), /state:dropped AND _exists_:raw/);
});
