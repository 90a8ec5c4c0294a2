import kafkajs from 'kafkajs';
import t from 'tap';
import { loadConfig } from '../../../program/settings.js';
import { silentLog } from '../../../core/log.js';
import { Registry } from '../../../core/metrics.js';
import { createTopicLog } from '../../../program/topic-log.js';
import { kafkaBrokers, skipWithoutKafka } from '../../engines.js';

t.test('records below an offset are removed, also all of them', skipWithoutKafka(), async (t) => {
  const brokers = kafkaBrokers()?.split(',') ?? [];
  const { config } = loadConfig({
    folder: '/nowhere',
    environment: {},
    overrides: { topics: { kind: 'kafka', kafka: { brokers } } },
  });
  const log = createTopicLog(config, { registry: new Registry(), log: silentLog });
  const name = `trim-${Math.random().toString(36).slice(2)}`;
  await log.start();
  t.teardown(async () => {
    const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
    await admin.connect();
    await admin.deleteTopics({ topics: [name] });
    await admin.disconnect();
    await log.stop(5_000);
  });
  await log.ensureTopics([
    { name, partitions: 1, retentionBytes: undefined, retentionMs: undefined, maxMessageBytes: 1_000 },
  ]);
  const append = (first: number): Promise<void> =>
    log.append(
      name,
      0,
      Array.from({ length: 10 }, (_, number) => ({
        key: `k${first + number}`,
        value: Buffer.from('v'),
        timestamp: 1,
        origin: 'o',
      })),
    );
  await append(0);
  for (const before of [5, 10]) {
    await log.trim(name, 0, before);
    t.match(await log.partitions(name), [{ earliest: before, logEnd: 10 }]);
  }
  await append(10);
  const keys: string[] = [];
  await log.read(name, 0, 0, (records) => void keys.push(...records.map(({ key }) => key)));
  t.same(
    keys,
    Array.from({ length: 10 }, (_, number) => `k${10 + number}`),
  );
});
