import t from 'tap';
import { step } from '../../../pipeline/delivery/machine.js';
import {
  unassigned,
  type DeliveryEvent,
  type PartitionState,
  type VersionedRecord,
} from '../../../pipeline/delivery/partition-state.js';
import { isPassed, prunedRanges, type Epoch, type PartitionRecord } from '../../../pipeline/delivery/records.js';

function play(events: readonly DeliveryEvent[], from: PartitionState = unassigned) {
  return events.reduce((last, event) => step(last.state, event), step(from, { type: 'revoked' }));
}

const kept = (parked?: Readonly<Record<string, number>>): VersionedRecord => ({
  revision: 'r1',
  record: {
    ranges: [{ from: 0, epoch: 0 }],
    owner: { incarnation: 0, groupGeneration: 2 },
    reserved: 1000,
    ...(parked === undefined ? {} : { parked }),
  },
});
const ready = (found: VersionedRecord = kept()): PartitionState =>
  play([
    { type: 'assigned', groupGeneration: 3, position: 5, logEnd: 40, highestMarker: 0, sequences: new Map() },
    { type: 'record_read', found, latestEpoch: 0, stillOwner: true },
    { type: 'record_written', revision: 'r2' },
  ]).state;
const fetched: DeliveryEvent = { type: 'fetched', first: 5, next: 10, latestEpoch: 0 };
const blocked = (indexSets: readonly string[], alreadyStoredIn: readonly string[] = []): DeliveryEvent => ({
  type: 'blocked',
  indexSets,
  alreadyStoredIn,
  sequences: new Map([['run', 9]]),
});

t.test('the record says that a set is parked before its first message is', (t) => {
  const marking = play([fetched, blocked(['a'])], step(ready(), fetched).state).state;
  t.equal(marking.phase, 'abandoned', 'a second fetch during a delivery is refused');
  const delivering = step(ready(), fetched).state;
  const marked = step(delivering, blocked(['a']));
  t.match(marked.commands, [{ type: 'write_record', record: { parked: { a: 5 } }, expected: 'r2' }]);
  const parking = step(marked.state, { type: 'record_written', revision: 'r3' });
  t.match(parking.commands, [{ type: 'park', spans: [{ from: 5, to: 10, epoch: 0 }], indexSets: ['a'] }]);
  const done = step(parking.state, { type: 'parked' });
  t.match(done.commands, [{ type: 'commit', offset: 10, sequences: new Map([['run', 9]]) }]);
  const next = step(done.state, { type: 'fetched', first: 10, next: 12, latestEpoch: 0 });
  t.match(next.commands, [{ type: 'deliver', park: ['a'] }], 'later batches park without a write');
  t.match(step(next.state, blocked(['b'])).commands, [{ type: 'write_record', record: { parked: { a: 5, b: 10 } } }]);
  t.end();
});

t.test('a processor that lost the partition parks nothing', (t) => {
  const marked = step(step(ready(), fetched).state, blocked(['a']));
  t.match(step(marked.state, { type: 'record_conflict' }).commands, [{ type: 'abandon' }]);
  t.end();
});

t.test('what was stored before is synced after the parking, before the commit', (t) => {
  const marked = step(step(ready(), fetched).state, blocked(['a'], ['b_0']));
  const parking = step(marked.state, { type: 'record_written', revision: 'r3' });
  t.match(step(parking.state, { type: 'parked' }).commands, [{ type: 'sync', indices: ['b_0'] }]);
  t.end();
});

t.test('an append that fails leaves the set parked, and the batch comes again', (t) => {
  const parking = step(step(step(ready(), fetched).state, blocked(['a'])).state, {
    type: 'record_written',
    revision: 'r3',
  }).state;
  const again = step(step(parking, { type: 'failed' }).state, fetched);
  t.match(again.commands, [{ type: 'deliver', park: ['a'] }]);
  t.end();
});

t.test('a new owner inherits what is parked, and forgets it only when it is drained', (t) => {
  const taken = ready(kept({ a: 2, b: 4 }));
  t.match(taken.stored?.record.parked, { a: 2, b: 4 });
  t.match(step(taken, fetched).commands, [{ type: 'deliver', park: ['a', 'b'] }]);
  const drained = step(taken, { type: 'drained', indexSet: 'a' });
  t.same((drained.commands[0] as { record: PartitionRecord }).record.parked, { b: 4 });
  const written = step(drained.state, { type: 'record_written', revision: 'r3' });
  t.match(written, { state: { phase: 'ready' }, commands: [{ type: 'ready' }] });
  t.match(step(written.state, fetched).commands, [{ type: 'deliver', park: ['b'] }]);
  const none = step(written.state, { type: 'drained', indexSet: 'b' });
  t.notOk('parked' in (none.commands[0] as { record: PartitionRecord }).record);
  t.same(step(taken, { type: 'drained', indexSet: 'unknown' }).commands, []);
  t.same(step(step(taken, fetched).state, { type: 'drained', indexSet: 'a' }).commands, [], 'not during a batch');
  t.match(step(drained.state, { type: 'record_conflict' }).commands, [{ type: 'abandon' }]);
  t.end();
});

t.test('an index is not retired while something parked may be bound for it', (t) => {
  const epoch = (number: number, indices: Record<string, string>): [number, Epoch] => [
    number,
    { number, ruleSetVersion: '1', indices, createdAt: 0, cause: 'rotation' },
  ];
  const epochs = new Map([
    epoch(0, { a: 'a_0', b: 'b_0' }),
    epoch(1, { a: 'a_1', b: 'b_1' }),
    epoch(2, { a: 'a_2', b: 'b_2' }),
  ]);
  const ranges = [
    { from: 0, epoch: 0 },
    { from: 10, epoch: 1 },
    { from: 20, epoch: 2 },
  ];
  const record: PartitionRecord = {
    ranges,
    owner: { incarnation: 0, groupGeneration: 1 },
    reserved: 100,
    parked: { a: 12 },
  };
  const passed = (index: string) => isPassed(index, epochs, [{ record, committed: 25 }]);
  t.ok(passed('a_0'), 'what was delivered before the set was parked is passed');
  t.notOk(passed('a_1'));
  t.ok(passed('b_1'), 'another set is not held');
  t.notOk(passed('a_2'));
  t.same(
    prunedRanges(record, 25),
    [
      { from: 10, epoch: 1 },
      { from: 20, epoch: 2 },
    ],
    'ranges of parked messages are kept',
  );
  t.end();
});
