import t from 'tap';
import { reservedSpan } from '../../../pipeline/delivery/records.js';
import { step } from '../../../pipeline/delivery/machine.js';
import {
  unassigned,
  type DeliveryEvent,
  type PartitionState,
  type VersionedRecord,
} from '../../../pipeline/delivery/partition-state.js';

/** Feeds events one after the other; returns the last state and the commands of the last step. */
function play(events: readonly DeliveryEvent[], from: PartitionState = unassigned) {
  return events.reduce((last, event) => step(last.state, event), step(from, { type: 'revoked' }));
}

const assigned = (over: Partial<Extract<DeliveryEvent, { type: 'assigned' }>> = {}): DeliveryEvent => ({
  type: 'assigned',
  groupGeneration: 3,
  position: 0,
  logEnd: 0,
  highestMarker: 0,
  sequences: new Map(),
  ...over,
});
const read = (found: VersionedRecord | undefined, latestEpoch = 0, stillOwner = true): DeliveryEvent => ({
  type: 'record_read',
  found,
  latestEpoch,
  stillOwner,
});
const kept = (groupGeneration: number, reserved: number, from = 0): VersionedRecord => ({
  revision: 'r1',
  record: { ranges: [{ from, epoch: 0 }], owner: { incarnation: 0, groupGeneration }, reserved },
});

t.test('a new partition writes its record and reads the marks before its first batch', (t) => {
  const { state, commands } = play([assigned(), read(undefined), { type: 'record_written', revision: 'a' }]);
  t.same(commands, [{ type: 'read_index_states', epoch: 0 }]);
  const again = step(state, { type: 'index_states_read', retired: true, latestEpoch: 4 });
  t.match(
    again.commands,
    [{ type: 'write_record', record: { ranges: [{ from: 0, epoch: 4 }] }, expected: 'a' }],
    'a retired index is not written to',
  );
  const open = step(state, { type: 'index_states_read', retired: false, latestEpoch: 0 });
  t.match(open.commands, [{ type: 'write_record', record: { ranges: [{ from: 0, epoch: 0 }] }, expected: 'a' }]);
  t.match(step(open.state, { type: 'record_written', revision: 'b' }), {
    state: { phase: 'ready' },
    commands: [{ type: 'ready' }],
  });
  const inherited = {
    revision: 'r1',
    record: {
      ranges: [{ from: 0, epoch: 0 }],
      owner: { incarnation: 0, groupGeneration: 2 },
      reserved: 10,
      unchecked: true as const,
    },
  };
  t.match(
    play([assigned(), read(inherited), { type: 'record_written', revision: 'b' }]).commands,
    [{ type: 'read_index_states', epoch: 0 }],
    'its maker may have died before it knew',
  );
  t.end();
});

t.test('a takeover by an older generation is refused, a reset group is adopted', (t) => {
  t.match(play([assigned({ groupGeneration: 2 }), read(kept(5, 10), 0, false)]).commands, [{ type: 'abandon' }]);
  t.match(play([assigned({ groupGeneration: 2 }), read(kept(5, 10), 0, true)]).commands, [
    { type: 'write_record', record: { owner: { incarnation: 1, groupGeneration: 2 } } },
  ]);
  t.end();
});

t.test('a cut lies at the floor: what a former owner may still write keeps its epoch', (t) => {
  const ready = play([
    assigned({ position: 5, logEnd: 40 }),
    read(kept(2, 1000), 0),
    { type: 'record_written', revision: 'b' },
  ]);
  const { commands } = step(ready.state, { type: 'fetched', first: 5, next: 10, latestEpoch: 1 });
  t.match(commands, [
    {
      type: 'write_record',
      record: {
        ranges: [
          { from: 0, epoch: 0 },
          { from: 40, epoch: 1 },
        ],
      },
      expected: 'b',
    },
  ]);
  t.end();
});

t.test('a backlog is bound to the old epoch only as far as it was reserved', (t) => {
  const ready = play([
    assigned({ position: 5, logEnd: 1_000_000 }),
    read(kept(2, 300), 0),
    { type: 'record_written', revision: 'b' },
  ]);
  const { commands } = step(ready.state, { type: 'fetched', first: 5, next: 10, latestEpoch: 1 });
  t.match(commands, [
    {
      type: 'write_record',
      record: {
        ranges: [
          { from: 0, epoch: 0 },
          { from: 300, epoch: 1 },
        ],
      },
    },
  ]);
  t.end();
});

t.test('a silent partition takes a new epoch too, and holds no index of the former one', (t) => {
  const ready = play([
    assigned({ position: 5, logEnd: 5 }),
    read(kept(2, 300), 0),
    { type: 'record_written', revision: 'b' },
  ]);
  const { state, commands } = step(ready.state, { type: 'epoch_appended', latestEpoch: 3 });
  t.match(commands, [
    {
      type: 'write_record',
      record: {
        ranges: [
          { from: 0, epoch: 0 },
          { from: 5, epoch: 3 },
        ],
      },
      expected: 'b',
    },
  ]);
  const again = step(state, { type: 'record_written', revision: 'c' });
  t.match(again, { state: { phase: 'ready' }, commands: [{ type: 'ready' }] });
  t.same(step(again.state, { type: 'epoch_appended', latestEpoch: 3 }).commands, []);
  t.end();
});

t.test('no offset is taken beyond the reservation before it is raised', (t) => {
  const ready = play([assigned(), read(kept(2, 10)), { type: 'record_written', revision: 'b' }]);
  const beyond = reservedSpan + 20;
  const { state, commands } = step(ready.state, { type: 'fetched', first: 0, next: beyond, latestEpoch: 0 });
  t.match(commands, [{ type: 'write_record', record: { reserved: beyond + reservedSpan } }]);
  t.match(step(state, { type: 'record_written', revision: 'c' }).commands, [
    { type: 'deliver', spans: [{ from: 0, to: beyond, epoch: 0 }] },
  ]);
  t.match(step(state, { type: 'record_conflict' }).commands, [{ type: 'abandon' }]);
  t.end();
});

t.test('an index that had documents before is synced before the commit', (t) => {
  const delivering = play([
    assigned(),
    read(kept(2, 10)),
    { type: 'record_written', revision: 'b' },
    { type: 'fetched', first: 0, next: 3, latestEpoch: 0 },
  ]);
  const { state, commands } = step(delivering.state, {
    type: 'stored',
    alreadyStoredIn: ['set_0'],
    sequences: new Map(),
  });
  t.match(commands, [{ type: 'sync', indices: ['set_0'] }]);
  t.match(step(state, { type: 'synced' }).commands, [{ type: 'commit', offset: 3 }]);
  t.end();
});
