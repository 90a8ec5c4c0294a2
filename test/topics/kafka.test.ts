import { randomBytes } from 'node:crypto';
import kafkajs from 'kafkajs';
import t, { type Test } from 'tap';
import { silentLog } from '../../core/log.js';
import { Registry } from '../../core/metrics.js';
import { createKafkaTopicLog } from '../../topics/kafka.js';
import { kafkaBrokers, skipWithoutKafka } from '../engines.js';
import { testTopicLog, type TopicPlace } from './contract.js';

async function createPlace(test: Test): Promise<TopicPlace> {
  const brokers = kafkaBrokers()?.split(',') ?? [];
  const suffix = randomBytes(6).toString('hex');
  test.teardown(() => removeAll(brokers, suffix));
  const open = async () => {
    const log = createKafkaTopicLog({ brokers, log: silentLog, registry: new Registry() });
    test.teardown(() => log.stop(1000));
    await log.start();
    return log;
  };
  return { open, openReader: open, named: (name) => `test-${name}-${suffix}` };
}

/** Topics and groups whose name holds the suffix. */
async function removeAll(brokers: string[], suffix: string): Promise<void> {
  const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((name) => name.includes(suffix));
  if (topics.length > 0) await admin.deleteTopics({ topics });
  const groups = (await admin.listGroups()).groups
    .map(({ groupId }) => groupId)
    .filter((name) => name.includes(suffix));
  if (groups.length > 0) await admin.deleteGroups(groups).catch(() => undefined);
  await admin.disconnect();
}

await t.test('Kafka', { ...skipWithoutKafka(), timeout: 120_000 }, (test) =>
  testTopicLog(test, { name: 'kafka', createPlace }),
);
