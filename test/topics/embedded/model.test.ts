/**
 * Random lives of an embedded log: appends, failures, restarts, retention, consumers that commit late. Nothing is
 * missing, nothing out of order.
 */
import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { EmbeddedLog } from '../../../topics/embedded.js';
import { consumeOptions, createCollector, createRecords, topicSpec, waitUntil } from '../collect.js';
import { createFolder, startLog } from './folder.js';

const seed = 20261121;
const partitions = 2;

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      partition: fc.nat(partitions - 1),
      counts: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('fail' as const), writes: fc.integer({ min: 1, max: 2 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('consume' as const),
      behind: fc.nat(30),
      maxBatchRecords: fc.integer({ min: 1, max: 50 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'restart' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'maintain' as const }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

class World {
  readonly #test: Test;
  readonly #folder: string;
  readonly #ends = new Array<number>(partitions).fill(0);
  readonly #committed = new Array<number>(partitions).fill(0);
  #log: EmbeddedLog | undefined;
  #failures = 0;

  constructor(test: Test, folder: string) {
    this.#test = test;
    this.#folder = folder;
  }

  async open(): Promise<EmbeddedLog> {
    if (this.#log !== undefined) return this.#log;
    const beforeWrite = (bytes: number) => {
      if (this.#failures === 0) return bytes;
      this.#failures -= 1;
      throw new Error('EIO: injected');
    };
    this.#log = await startLog(this.#test, this.#folder, { segmentBytes: 4096, faults: { beforeWrite } });
    await this.#log.ensureTopics([{ ...topicSpec('logs', partitions), retentionBytes: 8192 }]);
    return this.#log;
  }

  async close(): Promise<void> {
    await this.#log?.stop(5000);
    this.#log = undefined;
  }

  async run(each: Step): Promise<void> {
    const log = await this.open();
    if (each.kind === 'restart') await this.close();
    else if (each.kind === 'maintain') await log.maintain();
    else if (each.kind === 'fail') this.#failures = each.writes;
    else if (each.kind === 'append') await this.#append(log, each.partition, each.counts);
    else await this.consume(each.behind, each.maxBatchRecords);
  }

  async #append(log: EmbeddedLog, partition: number, counts: readonly number[]): Promise<void> {
    await Promise.all(
      counts.map((count) => {
        const from = this.#ends[partition] ?? 0;
        this.#ends[partition] = from + count;
        return log.append('logs', partition, createRecords(from, count));
      }),
    );
  }

  /** Reads to the end of all partitions and commits so many records behind what it read. */
  async consume(behind: number, maxBatchRecords: number): Promise<void> {
    const log = await this.open();
    const next = [...this.#committed];
    const collector = createCollector(({ partition, records, nextOffset }) => {
      for (const record of records) {
        if (record.offset !== next[partition] || record.key !== `run-0-${record.offset}`)
          throw new Error(`offset ${record.offset} with key ${record.key}, expected ${next[partition]}`);
        next[partition] = record.offset + 1;
      }
      const commit = Math.max(this.#committed[partition] ?? 0, nextOffset - behind);
      this.#committed[partition] = commit;
      return { commit, metadata: String(commit) };
    });
    const consumer = await log.consume(consumeOptions('group', 'logs', { maxBatchRecords }), collector);
    const failure = consumer.finished.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    await waitUntil(
      `the ends ${this.#ends.join()}, got ${next.join()}`,
      () => next.every((offset, partition) => offset === this.#ends[partition]),
      10_000,
    );
    await consumer.stop(5000);
    this.#test.equal(await failure, undefined);
  }
}

t.test(
  'every record comes in order at its own offset, however often the log fails, restarts and removes',
  async (test) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const world = new World(test, await createFolder(test));
        // The group is known from the begin: retention minds it.
        await world.consume(0, 10);
        for (const each of steps) await world.run(each);
        await world.run({ kind: 'restart' });
        await world.consume(0, 100);
        await world.close();
      }),
      { seed, numRuns: 15 },
    );
  },
);
