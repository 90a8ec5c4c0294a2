import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { silentLog } from '../../../core/log.js';
import { Registry } from '../../../core/metrics.js';
import type { TopicLog } from '../../../topics/contract.js';
import { createKafkaTopicLog } from '../../../topics/kafka.js';
import { skipWithoutEngines, startEngines, type Engines } from '../../engines.js';
import { consumeOptions, createCollector, topicSpec, waitUntil, type Collector } from '../collect.js';
import { checkSequences, createSequence } from './load.js';

const partitions = 2;
const recordsPerAppend = 50;
/** From the broker answering again until appends and consumers run as before. */
const recoveryMs = 10_000;

/** Appends without end until told to stop; resolves with the acknowledged records of each partition. */
function startLoad(log: TopicLog, topic: string) {
  const acknowledged = Array.from({ length: partitions }, () => 0);
  let running = true;
  const loops = acknowledged.map(async (_, partition) => {
    while (running) {
      await log.append(topic, partition, createSequence(partition, acknowledged[partition] ?? 0, recordsPerAppend));
      acknowledged[partition] = (acknowledged[partition] ?? 0) + recordsPerAppend;
      await new Promise((resolve) => {
        setTimeout(resolve, 10);
      });
    }
  });
  return {
    acknowledged,
    total: () => acknowledged.reduce((sum, count) => sum + count, 0),
    async stop() {
      running = false;
      await Promise.all(loops);
    },
  };
}

t.setTimeout(240_000);

await t.test(
  'a broker that is killed, or hangs, costs nothing but waiting',
  { ...skipWithoutEngines(), timeout: 240_000 },
  async (test) => {
    const home = await mkdtemp(join(tmpdir(), 'sluice-outage-'));
    const engines: Engines = await startEngines({ home, engines: ['kafka'] });
    test.teardown(async () => {
      await engines.stop('kafka');
      await rm(home, { recursive: true, force: true });
    });
    const log = createKafkaTopicLog({
      brokers: engines.kafka,
      log: silentLog,
      registry: new Registry(),
      requestTimeoutMs: 5_000,
    });
    test.teardown(() => log.stop(1000));
    await log.start();
    await log.ensureTopics([topicSpec('logs', partitions)]);
    const collector: Collector = createCollector();
    const consumer = await log.consume(consumeOptions('group', 'logs'), collector);
    const load = startLoad(log, 'logs');
    const isRunning = async (what: string): Promise<number> => {
      const startedAt = Date.now();
      const appended = load.total();
      await waitUntil(`appends ${what}`, () => load.total() > appended + 1000, 30_000);
      const consumed = collector.keys.length;
      await waitUntil(`consumption ${what}`, () => collector.keys.length > consumed + 1000, 30_000);
      return Date.now() - startedAt;
    };
    await isRunning('before');

    await engines.kill('kafka');
    const acknowledgedAtKill = load.total();
    await waitUntil('the log to say that it cannot be written', () => !log.writable().ok);
    test.match(log.writable().reason, /^an append to logs\/\d waits since 1\d s/);
    test.ok(load.total() - acknowledgedAtKill <= partitions * recordsPerAppend);
    await engines.start('kafka');
    const afterKillMs = await isRunning('after the restart');
    await waitUntil('the log to say that it can be written', () => log.writable().ok);

    await engines.pause('kafka');
    await new Promise((resolve) => {
      setTimeout(resolve, 20_000);
    });
    await engines.resume('kafka');
    const afterPauseMs = await isRunning('after the pause');

    await load.stop();
    test.comment(
      `running again ${afterKillMs} ms after the restart and ${afterPauseMs} ms after the pause of 20 s; ${load.total()} records`,
    );
    test.ok(afterKillMs < recoveryMs);
    test.ok(afterPauseMs < recoveryMs);
    const verdict = await checkSequences(log, 'logs', load.acknowledged);
    test.match(verdict, { missing: 0, resent: 0, outOfOrder: 0 });
    await waitUntil('every record to be consumed', () => new Set(collector.keys).size >= verdict.found);
    test.equal(new Set(collector.keys).size, verdict.found);
    await consumer.stop(5_000);
    const ends = await log.partitions('logs');
    test.same(
      [...(await log.committed('group', 'logs')).values()],
      ends.map(({ logEnd }) => logEnd),
      'everything is committed',
    );
  },
);
