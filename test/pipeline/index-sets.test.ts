/** Rotation and retention of index sets over the embedded store, LevelDB state and embedded topics, with the real processor. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import t from 'tap';
import { stringify } from 'yaml';
import { loadConfig } from '../../config/load.js';
import { Registry } from '../../core/metrics.js';
import { createRun, idPrefix, mintId } from '../../pipeline/delivery/ids.js';
import { createProcessor, type Processor } from '../../program/processor.js';
import { createEmbeddedTopicLog } from '../../topics/embedded.js';
import { createDecoder } from '../../gelf/decoder.js';
import { compileRules } from '../../rules/compile.js';
import type { RuleSet } from '../../rules/contract.js';
import type { IndexInfo, IndexStore } from '../../sinks/stores/contract.js';
import { createDuckStore, type DuckStoreOptions } from '../../sinks/stores/duckdb.js';
import { createLevelState } from '../../state/leveldb.js';
import { until } from '../program.js';
import { wordsKnown } from '../sinks/stores/duckdb/support/words.js';

type Limits = Readonly<Record<string, unknown>>;

const never = 3_600_000;
const large = { type: 'size', max_size: '1 GB' };
const keepAll = { type: 'none' };

/** Messages with `_set: other` go to the set `other`, where there is one, all others to `sluice_default`. */
function rules(byDefault: Limits, other: Limits | null = { rotation: large, retention: keepAll }): RuleSet {
  const text = stringify({
    index_sets: [
      { id: 'sluice_default', ...byDefault },
      ...(other === null ? [] : [{ id: 'other', ...other }]),
      { id: 'sluice_dead_letters', rotation: large, retention: keepAll },
    ],
    streams: [
      { id: 'all-messages', title: 'All messages', index_set: 'sluice_default' },
      ...(other === null
        ? []
        : [
            {
              id: 'others',
              title: 'Others',
              index_set: 'other',
              remove_matches_from_default_stream: true,
              when: { field: 'set', equals: 'other' },
            },
          ]),
    ],
  });
  const compiled = compileRules({ files: [{ name: 'sets.yaml', text }] });
  if ('problems' in compiled) throw new Error(JSON.stringify(compiled.problems));
  return compiled.ruleSet;
}

interface Rig {
  readonly processor: Processor;
  readonly store: IndexStore;
  readonly registry: Registry;
  /** Methods that stand for those of the store, as the processor sees it. */
  readonly faults: Partial<IndexStore>;
  readonly logged: Record<string, unknown>[];
  /** Appends messages of this many random bytes. */
  send(messages: number, bytes?: number, set?: string): Promise<void>;
  /** Appends and waits until everything is committed. */
  deliver(messages: number, bytes?: number, set?: string): Promise<void>;
  change(ruleSet: RuleSet): Promise<void>;
  indices(set?: string): Promise<readonly IndexInfo[]>;
  names(set?: string): Promise<string[]>;
}

interface RigOptions {
  readonly maxTotalBytes?: number;
  /** None by default: they come behind the writes, when the machine has time. */
  readonly words?: DuckStoreOptions['words'];
}

async function start(
  t: { teardown(action: () => Promise<void>): void },
  first: RuleSet,
  { maxTotalBytes, words = { segmentRows: 0 } }: RigOptions = {},
): Promise<Rig> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-index-sets-'));
  const logged: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'info' },
    new Writable({
      write: (line: Buffer, _, done) => {
        logged.push(JSON.parse(line.toString()) as Record<string, unknown>);
        done();
      },
    }),
  );
  const registry = new Registry();
  const { config } = loadConfig({
    folder,
    environment: {},
    overrides: { processing: { rotation_check_ms: never, retention_check_ms: never } },
  });
  const topics = createEmbeddedTopicLog({
    folder: join(folder, 'topics'),
    segmentBytes: 2 ** 24,
    reserveBytes: 0,
    log,
    registry,
  });
  const state = createLevelState({ folder: join(folder, 'state'), log });
  const store = createDuckStore({
    folder: join(folder, 'store'),
    memoryBytes: 2 ** 29,
    threads: 1,
    checkpointBytes: 2 ** 28,
    reserveBytes: 0,
    words,
    log,
    registry,
  });
  const faults: Partial<IndexStore> = {};
  const faulty = new Proxy(store, {
    get(target, name) {
      const fault = faults[name as keyof IndexStore];
      if (fault !== undefined) return fault;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  let current = first;
  let changed = (): void => undefined;
  const processor = createProcessor({
    config,
    topics,
    store: faulty,
    state,
    decoder: createDecoder(),
    logsTopic: 'logs',
    deadLettersTopic: 'dead-letters',
    largestRecordBytes: 2 ** 20,
    registry,
    log,
    maxTotalBytes,
    compile: () => current,
    loadRules: () => Promise.resolve(current),
    onFatal: (error) => {
      throw error;
    },
    watchRules: (onChange) => {
      changed = onChange;
      return () => undefined;
    },
  });
  const parts = [state, store, topics];
  for (const part of parts) await part.start();
  await topics.ensureTopics(
    ['logs', 'dead-letters'].map((name) => ({
      name,
      partitions: 1,
      retentionBytes: undefined,
      retentionMs: undefined,
      maxMessageBytes: 2 ** 20,
    })),
  );
  await processor.start();
  t.teardown(async () => {
    await processor.stop(5_000);
    for (const part of parts.reverse()) await part.stop(5_000);
    rmSync(folder, { recursive: true, force: true });
  });
  const prefix = idPrefix(createRun(Date.now()), 0);
  let sequence = 0;
  const rig: Rig = {
    processor,
    store,
    registry,
    faults,
    logged,
    async send(messages, bytes = 10, set = 'default') {
      const records = Array.from({ length: messages }, () => {
        const value = Buffer.from(
          JSON.stringify({
            version: '1.1',
            host: 'h',
            short_message: randomBytes(bytes).toString('base64'),
            _set: set,
          }),
        );
        return { key: mintId(prefix, sequence++), value, timestamp: Date.now(), origin: 'test 127.0.0.1:1' };
      });
      await topics.append('logs', 0, records);
    },
    async deliver(messages, bytes, set) {
      await rig.send(messages, bytes, set);
      await until(
        async () => ((await processor.lag()) === 0 ? true : undefined),
        20_000,
        () => JSON.stringify(logged.slice(-5)),
      );
    },
    async change(ruleSet) {
      current = ruleSet;
      changed();
      await until(
        () => (processor.rules() === ruleSet ? true : undefined),
        10_000,
        () => JSON.stringify(logged.slice(-5)),
      );
    },
    indices: (set = 'sluice_default') => store.listIndices(set),
    names: async (set = 'sluice_default') => (await store.listIndices(set)).map(({ name }) => name),
  };
  return rig;
}

/** Starts another index, with one document in the one before and one in it, so that the one before is passed. */
async function rotate(rig: Rig, set = 'sluice_default'): Promise<void> {
  const kind = set === 'other' ? 'other' : 'default';
  await rig.deliver(1, 10, kind);
  await rig.processor.indexSets.rotateNow(set);
  await rig.deliver(1, 10, kind);
}

t.test('by size: rotates close to the limit, between checks, and says at which size', async (t) => {
  // Several times what the store writes anew at once (24,576 documents).
  const limit = 60e6;
  const rig = await start(t, rules({ rotation: { type: 'size', max_size: '60 MB' }, retention: keepAll }));
  for (let round = 0; round < 60 && (await rig.names()).length < 2; round += 1) await rig.deliver(5_000, 600);
  const line = await until(
    () => rig.logged.find(({ msg }) => msg === 'index rotated'),
    5_000,
    () => JSON.stringify(rig.logged.slice(-5)),
  );
  t.ok(
    (line['bytes'] as number) > limit * 0.95 && (line['bytes'] as number) < limit * 1.05,
    `rotated at ${String(line['bytes'])} bytes`,
  );
  await rig.processor.indexSets.checkRotation();
  const [first] = await rig.indices();
  t.ok((first?.bytes ?? 0) < limit * 1.05, `ends at ${first?.bytes} bytes`);
  t.ok((first?.documents ?? 0) > 50_000, `${first?.documents} documents`);
});

t.test('by size: words that wait for a quieter time are counted in', async (t) => {
  const limit = 12e6;
  // More rows than an index gets: only what nobody writes to any more is looked at.
  const words = { segmentRows: 32_000, idleMs: 3_000, everyMs: 50 };
  const rig = await start(t, rules({ rotation: { type: 'size', max_size: '12 MB' }, retention: keepAll }), { words });
  for (let indices = 1; indices <= 3; indices += 1) {
    while ((await rig.names()).length < indices) await rig.deliver(1_000, 600);
    // What a word takes is learnt from the first index.
    await wordsKnown(rig.registry, 2_000);
  }
  const rotated = rig.logged.filter(({ msg }) => msg === 'index rotated')[1] ?? {};
  t.ok(
    (rotated['bytes'] as number) < limit * 0.75 && (rotated['pending_bytes'] as number) > limit * 0.25,
    JSON.stringify(rotated),
  );
  await rig.store.checkpoint?.('sluice_default_1');
  const bytes = (await rig.indices())[1]?.bytes ?? 0;
  t.ok(bytes > limit * 0.85 && bytes < limit * 1.15, `ends at ${bytes} bytes`);
});

t.test('by count: rotates when the number is reached, not before, and not an empty index', async (t) => {
  const rig = await start(t, rules({ rotation: { type: 'count', max_documents: 100 }, retention: keepAll }));
  const { indexSets } = rig.processor;
  await indexSets.checkRotation();
  await rig.deliver(99);
  await indexSets.checkRotation();
  t.same(await rig.names(), ['sluice_default_0']);
  await rig.deliver(1);
  await indexSets.checkRotation();
  await indexSets.checkRotation();
  t.same(await rig.names(), ['sluice_default_0', 'sluice_default_1']);
  await rig.deliver(7);
  t.same(
    (await rig.indices()).map(({ documents }) => documents),
    [100, 7],
  );
});

t.test('by time: rotates in the next period when there are documents', async (t) => {
  const rig = await start(t, rules({ rotation: { type: 'time', period: 'PT1S' }, retention: keepAll }));
  const { indexSets } = rig.processor;
  const begun = Date.now();
  await until(
    async () => (await indexSets.checkRotation(), Date.now() - begun > 1_100 ? true : undefined),
    5_000,
    () => '',
  );
  t.same(await rig.names(), ['sluice_default_0'], 'an empty index stays');
  await rig.deliver(1);
  await until(
    async () => (await indexSets.checkRotation(), (await rig.names()).length === 2 ? true : undefined),
    5_000,
    () => JSON.stringify(rig.logged),
  );
  await indexSets.checkRotation();
  t.same(await rig.names(), ['sluice_default_0', 'sluice_default_1']);
});

t.test('retention by number deletes the oldest, and the name is not used again', async (t) => {
  const rig = await start(t, rules({ rotation: large, retention: { type: 'delete', max_indices: 2 } }));
  for (let round = 0; round < 3; round += 1) await rotate(rig);
  await rig.processor.indexSets.checkRetention();
  t.same(await rig.names(), ['sluice_default_2', 'sluice_default_3']);
  await rotate(rig);
  await rig.processor.indexSets.checkRetention();
  t.same(await rig.names(), ['sluice_default_3', 'sluice_default_4']);
});

t.test('retention by total bytes deletes until the set fits, never the index that is written', async (t) => {
  const rig = await start(t, rules({ rotation: large, retention: { type: 'delete', max_total_size: '1 GB' } }));
  for (let round = 0; round < 3; round += 1) await rotate(rig);
  await rig.processor.indexSets.checkRetention();
  t.equal((await rig.names()).length, 4, 'nothing is deleted below the limit');
  const bytes = (await rig.indices()).map((info) => info.bytes);
  await rig.change(
    rules({ rotation: large, retention: { type: 'delete', max_total_size: (bytes[2] ?? 0) + (bytes[3] ?? 0) + 1000 } }),
  );
  await rig.processor.indexSets.checkRetention();
  t.same(await rig.names(), ['sluice_default_2', 'sluice_default_3']);
  await rig.change(rules({ rotation: large, retention: { type: 'delete', max_total_size: 1 } }));
  await rig.processor.indexSets.checkRetention();
  t.same(await rig.names(), ['sluice_default_3']);
});

t.test('retention by closing keeps the files and counts only open indices; none keeps everything', async (t) => {
  const rig = await start(
    t,
    rules({ rotation: large, retention: { type: 'close', max_indices: 1 } }, { rotation: large, retention: keepAll }),
  );
  for (let round = 0; round < 2; round += 1) {
    await rotate(rig);
    await rotate(rig, 'other');
  }
  await rig.processor.indexSets.checkRetention();
  t.same(
    (await rig.indices()).map(({ open }) => open),
    [false, false, true],
  );
  t.same(
    (await rig.indices('other')).map(({ open }) => open),
    [true, true, true],
  );
  await rig.processor.indexSets.checkRetention();
  t.same(
    (await rig.indices()).map(({ open }) => open),
    [false, false, true],
  );
});

t.test('an index that a partition may still write to is not removed', async (t) => {
  const rig = await start(t, rules({ rotation: large, retention: { type: 'delete', max_indices: 1 } }));
  await rig.deliver(1);
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let reached = false;
  rig.faults.write = async (request) => {
    reached = true;
    await held;
    return rig.store.write(request);
  };
  await rig.send(5);
  await until(
    () => (reached ? true : undefined),
    5_000,
    () => 'the write did not come',
  );
  await rig.processor.indexSets.rotateNow('sluice_default');
  await rig.processor.indexSets.checkRetention();
  await rig.processor.indexSets.checkRetention();
  t.same(await rig.names(), ['sluice_default_0', 'sluice_default_1'], 'five messages of the index are uncommitted');
  release();
  delete rig.faults.write;
  await until(
    async () => ((await rig.processor.lag()) === 0 ? true : undefined),
    10_000,
    () => JSON.stringify(rig.logged.slice(-5)),
  );
  t.same(
    (await rig.indices()).map(({ documents }) => documents),
    [6, 0],
  );
  await until(
    async () => {
      await rig.processor.indexSets.checkRetention();
      return (await rig.names()).length === 1 ? true : undefined;
    },
    10_000,
    () => 'a partition that has become silent still holds the index',
  );
  t.same(await rig.names(), ['sluice_default_1']);
});

t.test('a set that fails does not stop the others', async (t) => {
  const limits = { rotation: { type: 'count', max_documents: 3 }, retention: { type: 'delete', max_indices: 1 } };
  const rig = await start(t, rules(limits, limits));
  for (const kind of ['default', 'other']) await rig.deliver(3, 10, kind);
  rig.faults.listIndices = (set) =>
    set === 'sluice_default' ? Promise.reject(new Error('unreadable')) : rig.store.listIndices(set);
  await rig.processor.indexSets.checkRotation();
  await rig.deliver(1, 10, 'other');
  await rig.processor.indexSets.checkRetention();
  t.same(await rig.names('other'), ['other_1']);
  t.same(await rig.names(), ['sluice_default_0']);
  t.equal(rig.logged.filter(({ error }) => String(error).includes('unreadable')).length, 2);
  delete rig.faults.listIndices;
  await rig.processor.indexSets.checkRotation();
  t.same(await rig.names(), ['sluice_default_0', 'sluice_default_1']);
});

t.test('changed rules change the limits of a running set', async (t) => {
  const rig = await start(t, rules({ rotation: large, retention: keepAll }));
  await rig.deliver(10);
  const { indexSets } = rig.processor;
  await indexSets.checkRotation();
  t.same(await rig.names(), ['sluice_default_0']);
  await rig.change(
    rules({ rotation: { type: 'count', max_documents: 10 }, retention: { type: 'delete', max_indices: 1 } }),
  );
  await indexSets.checkRotation();
  await rig.deliver(1);
  await indexSets.checkRetention();
  t.same(await rig.names(), ['sluice_default_1']);
});

t.test('the cap of all indices together deletes the oldest of any set', async (t) => {
  const rig = await start(t, rules({ rotation: large, retention: keepAll }), { maxTotalBytes: 1 });
  await rotate(rig);
  await rotate(rig, 'other');
  await rig.processor.indexSets.checkRetention();
  t.same([...(await rig.names()), ...(await rig.names('other'))], ['sluice_default_1', 'other_1']);
});

t.test('an index that was opened again stays open when another process closes it late', async (t) => {
  const rig = await start(t, rules({ rotation: large, retention: keepAll }));
  const { indexRequests, indexSets } = rig.processor;
  await rotate(rig);
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let late: Promise<void> | undefined;
  rig.faults.closeIndex = (index) => {
    delete rig.faults.closeIndex;
    late = held.then(() => rig.store.closeIndex(index));
    return late;
  };
  await indexRequests.retire('sluice_default_0', 'close');
  await until(
    () => (late === undefined ? undefined : true),
    5_000,
    () => 'nobody closes the index',
  );
  await indexSets.checkRetention();
  t.same(
    (await rig.indices()).map(({ open }) => open),
    [false, true],
    'closed by the second one',
  );
  await indexRequests.reopen('sluice_default_0');
  t.same(
    (await rig.indices()).map(({ open }) => open),
    [true, true],
  );
  release();
  await late;
  await until(
    async () => ((await rig.indices()).every(({ open }) => open) ? true : undefined),
    5_000,
    () => 'it stays closed',
  );
  await rig.store.closeIndex('sluice_default_0');
  await indexRequests.reopen('sluice_default_0');
  t.same(
    (await rig.indices()).map(({ open }) => open),
    [true, true],
    'whoever closed it, it can be opened again',
  );
});

t.test('an index that is being deleted is not closed instead', async (t) => {
  const rig = await start(t, rules({ rotation: large, retention: keepAll }));
  const { indexRequests, indexSets } = rig.processor;
  await rotate(rig);
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  rig.faults.deleteIndex = (index) => held.then(() => rig.store.deleteIndex(index));
  await indexRequests.retire('sluice_default_0', 'delete');
  await t.rejects(indexRequests.retire('sluice_default_0', 'close'), { code: 'PIPELINE_INDEX_CHANGED' });
  await indexRequests.retire('sluice_default_0', 'delete');
  release();
  await indexSets.checkRetention();
  t.same(await rig.names(), ['sluice_default_1']);
});

t.test('a set that is deleted before processors have left it goes when they have', async (t) => {
  const limits = { rotation: large, retention: keepAll };
  const rig = await start(t, rules(limits));
  const { indexRequests, indexSets } = rig.processor;
  await rotate(rig, 'other');
  await indexRequests.retireAll('other');
  t.equal(await indexRequests.leaving('other'), true);
  await until(
    async () => ((await rig.names('other')).length === 1 ? true : undefined),
    10_000,
    () => JSON.stringify(rig.logged.slice(-5)),
  );
  await rig.deliver(3, 10, 'other');
  await indexSets.checkRetention();
  t.same(
    (await rig.indices('other')).map(({ name, documents }) => [name, documents]),
    [['other_1', 4]],
    'messages are still written to it',
  );
  await rig.change(rules(limits, null));
  t.equal(await indexRequests.leaving('other'), false);
  t.equal(await indexRequests.rotate('other'), 'absent');
  await rig.deliver(1);
  await indexSets.checkRetention();
  t.same(await rig.names('other'), []);
  await rig.change(rules(limits));
  t.same(await rig.names('other'), ['other_2'], 'a set of its name begins anew, with a name that was never used');
  t.equal(await indexRequests.leaving('other'), false);
  t.equal(await indexRequests.rotate('other'), 'rotated');
});
