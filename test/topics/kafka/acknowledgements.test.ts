import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import kafkajs from 'kafkajs';
import t from 'tap';
import { silentLog } from '../../../core/log.js';
import { Registry } from '../../../core/metrics.js';
import { createKafkaTopicLog } from '../../../topics/kafka.js';
import { kafkaBrokers, skipWithoutKafka } from '../../engines.js';
import { createTcpProxy } from '../../faults/causes/tcp-proxy.js';
import { topicSpec } from '../collect.js';
import { checkSequences, createSequence } from './load.js';

const partitions = 4;
const appends = 50;
const recordsPerAppend = 100;
const cuts = 50;

await t.test(
  'when 50 acknowledgements are cut after the append, nothing is missing, nothing doubled and the order is kept',
  { ...skipWithoutKafka(), timeout: 60_000 },
  async (test) => {
    const [host = '', port = ''] = (kafkaBrokers() as string).split(',')[0]?.split(':') ?? [];
    const brokers = [`${host}:${port}`];
    const proxy = await createTcpProxy({ host, port: Number(port) });
    const registry = new Registry();
    const topic = `test-acknowledgements-${randomBytes(6).toString('hex')}`;
    const log = createKafkaTopicLog({
      brokers,
      registry,
      log: silentLog,
      socketFactory: ({ onConnect }) => connect({ host: '127.0.0.1', port: proxy.port }, onConnect),
    });
    test.teardown(async () => {
      await log.stop(1000);
      await proxy.close();
      const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
      await admin.connect();
      await admin.deleteTopics({ topics: [topic] });
      await admin.disconnect();
    });
    await log.start();
    await log.ensureTopics([topicSpec(topic, partitions)]);
    proxy.cutAcknowledgementsOf(cuts, 3);
    await Promise.all(
      Array.from({ length: partitions }, async (_, partition) => {
        for (let index = 0; index < appends; index += 1)
          await log.append(topic, partition, createSequence(partition, index * recordsPerAppend, recordsPerAppend));
      }),
    );
    const verdict = await checkSequences(
      log,
      topic,
      Array.from({ length: partitions }, () => appends * recordsPerAppend),
    );
    test.comment(
      `${proxy.cutAcknowledgements} acknowledgements cut; ${verdict.found} records, ${verdict.resent} resent ones in the topic`,
    );
    test.equal(proxy.cutAcknowledgements, cuts);
    test.same(verdict, { missing: 0, resent: 0, outOfOrder: 0, found: partitions * appends * recordsPerAppend });
    test.match(
      await registry.getSingleMetricAsString('sluice_topic_records_resent_total'),
      /sluice_topic_records_resent_total\{.*\} [1-9]/,
    );
  },
);
