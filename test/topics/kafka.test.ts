import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { silentLog } from '../../core/log.js';
import { Registry } from '../../core/metrics.js';
import { createKafkaTopicLog } from '../../topics/kafka.js';
import { kafkaBrokers, skipWithoutKafka } from '../engines.js';
import { testTopicLog, type TopicPlace } from './contract.js';
import { removeAll } from './kafka/removing.js';

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

await t.test('Kafka', { ...skipWithoutKafka(), timeout: 120_000 }, (test) =>
  testTopicLog(test, { name: 'kafka', createPlace }),
);
