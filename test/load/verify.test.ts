import t from 'tap';
import type { LoadRun, Transport } from '../../load/contract.js';
import { createGenerator } from '../../load/generator.js';
import { createBitSet, createIdTable } from '../../load/id-table.js';
import { verifyText } from '../../load/report.js';
import { verify, waitUntilSettled, type VerifyReport, type VerifySources } from '../../load/verify.js';

const none = { count: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0 };
const generator = createGenerator({ seed: 1, run: '12345678', bytes: 420 });
const id = (n: number, partition = 0) =>
  `0192f00dcafe-${partition.toString(16).padStart(4, '0')}-${n.toString(16).padStart(12, '0')}`;

function runOf(sent: number, transport: Transport = 'tcp', lanes = 1): LoadRun {
  return {
    id: '12345678',
    lanes: Array.from({ length: lanes }, (_, connection) => ({ connection, transport, sent })),
    sent: sent * lanes,
    bytes: 0,
    elapsedMs: 1000,
    stoppedEarly: false,
    reconnects: 0,
    failed: 0,
    pushedBack: 0,
    write: none,
    accept: none,
  };
}
function message(sequence: number, connection = 0): Buffer {
  const buffer = Buffer.alloc(generator.largestBytes);
  return buffer.subarray(0, generator.write(buffer, 0, { connection, sent: sequence }, 0));
}
type TopicRow = readonly [number | string, number];
interface Case {
  readonly name: string;
  readonly sent?: number;
  readonly transport?: Transport;
  /** Number or text of the id, sequence. */
  readonly topic: readonly TopicRow[];
  readonly store: Readonly<Record<string, readonly (number | string)[]>>;
  readonly dead?: readonly number[];
  readonly dropped?: number;
  readonly want: Partial<VerifyReport>;
}
const idOf = (one: number | string) => (typeof one === 'number' ? id(one) : one);
function sourcesOf({ topic, store, dead, dropped }: Case): VerifySources {
  return {
    readTopic: async (onRecords) => {
      await onRecords([{ id: id(900), value: Buffer.from('{"short_message":"of somebody else"}') }]);
      for (const [one, sequence] of topic) await onRecords([{ id: idOf(one), value: message(sequence) }]);
    },
    scanStore: async (onIds) => {
      for (const [index, ids] of Object.entries(store)) await onIds(index, [...ids.map(idOf), id(901)]);
    },
    scanDeadLetters: dead === undefined ? undefined : async (onIds) => onIds(dead.map((one) => id(one))),
    dropped: dropped === undefined ? undefined : async () => dropped,
    lag: async () => 0,
  };
}

const inOrder: readonly TopicRow[] = [
  [0, 0],
  [1, 1],
  [2, 2],
];
const cases: readonly Case[] = [
  {
    name: 'all stored once',
    topic: inOrder,
    store: { a_0: [0, 1, 2] },
    want: { sent: 3, accepted: 3, records: 3, stored: 3, missing: 0, doubled: 0, resends: 0, outOfOrder: 0, ok: true },
  },
  {
    name: 'over two indices of one set',
    topic: inOrder,
    store: { a_0: [0], a_1: [1, 2] },
    want: { stored: 3, doubled: 0, ok: true },
  },
  {
    name: 'in two index sets, as streams say',
    topic: inOrder,
    store: { a_0: [0, 1, 2], b_0: [0] },
    want: { stored: 3, doubled: 0, ok: true },
  },
  {
    name: 'sent and never accepted is not missing',
    sent: 5,
    topic: inOrder,
    store: { a_0: [0, 1, 2] },
    want: { sent: 5, accepted: 3, missing: 0, ok: true },
  },
  {
    name: 'one missing',
    topic: inOrder,
    store: { a_0: [0, 2] },
    want: { missing: 1, ok: false, examples: { missing: [id(1)], doubled: [] } },
  },
  {
    name: 'one dead-lettered',
    topic: inOrder,
    store: { a_0: [0, 2] },
    dead: [1],
    want: { missing: 0, deadLettered: 1, ok: true },
  },
  {
    name: 'dead-lettered in one set, stored in another',
    topic: inOrder,
    store: { a_0: [0, 1, 2] },
    dead: [1],
    want: { missing: 0, deadLettered: 0, ok: true },
  },
  {
    name: 'one dropped by a rule',
    topic: inOrder,
    store: { a_0: [0, 2] },
    dropped: 1,
    want: { missing: 0, dropped: 1, ok: true },
  },
  {
    name: 'more missing than dropped',
    topic: inOrder,
    store: { a_0: [0] },
    dropped: 1,
    want: { missing: 1, ok: false },
  },
  {
    name: 'an id in two indices of one set',
    topic: inOrder,
    store: { a_0: [0, 1, 2], a_1: [2] },
    want: { stored: 3, doubled: 1, ok: false, examples: { missing: [], doubled: [id(2)] } },
  },
  { name: 'an id twice in one index', topic: inOrder, store: { a_0: [0, 1, 2, 2] }, want: { doubled: 1, ok: false } },
  {
    name: 'a resend in the topic, stored once',
    topic: [...inOrder, [1, 1], [2, 2]],
    store: { a_0: [0, 1, 2] },
    want: { accepted: 3, records: 3, resends: 2, outOfOrder: 0, ok: true },
  },
  {
    name: 'one message under two ids, both stored',
    topic: [...inOrder, [3, 1]],
    store: { a_0: [0, 1, 2, 3] },
    want: { accepted: 3, records: 4, resends: 0, doubled: 1, ok: false },
  },
  {
    name: 'one message under two ids, one of them missing',
    topic: [...inOrder, [3, 1]],
    store: { a_0: [0, 1, 2] },
    want: { doubled: 0, missing: 1, ok: false },
  },
  {
    name: 'out of order',
    topic: [
      [0, 0],
      [1, 2],
      [2, 1],
    ],
    store: { a_0: [0, 1, 2] },
    want: { outOfOrder: 1, missing: 0, ok: true },
  },
  {
    name: 'UDP has no order',
    transport: 'udp',
    topic: [
      [0, 0],
      [1, 2],
      [2, 1],
    ],
    store: { a_0: [0, 1, 2] },
    want: { outOfOrder: 0, ok: true },
  },
  {
    name: 'ids of another form',
    topic: [
      ['x', 0],
      ['a-zz', 1],
    ],
    store: { a_0: ['x', 'a-zz', 'a-zz'] },
    want: { accepted: 2, stored: 2, doubled: 1, ok: false },
  },
  { name: 'nothing accepted', topic: [], store: {}, want: { sent: 3, accepted: 0, missing: 0, ok: true } },
];

t.test('the verification counts as its table says', async (t) => {
  for (const one of cases) {
    const report = await verify(runOf(one.sent ?? 3, one.transport), sourcesOf(one));
    t.match(report, one.want, one.name);
    t.match(verifyText(report), one.want.ok === true ? /exactly once/ : /missing or doubled/, one.name);
  }
});

t.test('waiting ends when nothing is left and what is found stays the same, or at the deadline', async (t) => {
  const lags = [5, 0, 0, 0];
  const found = [1, 2, 3, 3];
  let call = -1;
  const sources: VerifySources = {
    readTopic: async () => undefined,
    scanStore: async () => undefined,
    lag: async () => lags[(call += 1)] ?? 0,
    searchable: async () => found[call] ?? 3,
  };
  t.equal(await waitUntilSettled(runOf(3), sources, { deadlineMs: 5000, pollMs: 1 }), true);
  t.equal(call, 3);
  t.equal(await waitUntilSettled(runOf(3), { ...sources, lag: async () => 1 }, { deadlineMs: 20, pollMs: 1 }), false);
});

t.test('a million ids take little memory', async (t) => {
  const table = createIdTable();
  const before = process.memoryUsage();
  for (let at = 0; at < 1_000_000; at += 1) table.add(id(at + 5_000_000, at % 4));
  const after = process.memoryUsage();
  const grown = after.arrayBuffers - before.arrayBuffers;
  t.equal(table.size(), 1_000_000);
  t.equal(table.find(id(5_000_007, 3)), 7);
  t.equal(table.find(id(5_000_007, 2)), undefined);
  t.ok(grown < 24e6, `${(grown / 1e6).toFixed(1)} MB, four partitions of every fourth id`);
  const bits = createBitSet();
  for (const one of [0, 7, 8, 100_000]) t.equal(bits.add(one), true);
  t.equal(bits.add(100_000), false);
  t.same([bits.has(8), bits.has(9), bits.has(1e7), bits.count()], [true, false, false, 4]);
});
