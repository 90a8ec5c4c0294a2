/**
 * Topics on Apache Kafka: several processes share one log. The client is loaded at the first use, so that embedded
 * topics do not pay for it.
 */
import { Type, type Static } from 'typebox';
import { clientTls, count, milliseconds, secret, text } from '../schemas/config/common.js';
import type { SectionProblem } from '../schemas/topic-log-kinds.js';
import type { TopicLog } from './contract.js';
import { defineTopicLog } from './define.js';
import { topicErrors } from './errors.js';
import { kafkaCapabilities, kafkaSettings, type KafkaTopicLogOptions } from './kafka/options.js';

export type { KafkaTopicLogOptions };

const settings = Type.Object(
  {
    brokers: Type.Array(Type.String(), {
      description: 'Bootstrap brokers, host:port.',
      default: ['127.0.0.1:9092'],
    }),
    client_id: text('Client id shown to the brokers.', 'sluice'),
    compression: Type.Union(
      [Type.Literal('none'), Type.Literal('gzip'), Type.Literal('snappy'), Type.Literal('lz4'), Type.Literal('zstd')],
      { description: 'Compression of record batches.', default: 'lz4' },
    ),
    replication: count("Replicas of created topics; 0: the broker's default.", 0),
    session_timeout_ms: milliseconds('A processor that is silent for this long loses its partitions.', 6_000),
    heartbeat_ms: milliseconds(
      'Time between heartbeats. A processor learns with one that another has joined or left.',
      500,
    ),
    request_timeout_ms: milliseconds('A request without an answer is repeated after this time.', 10_000),
    tls: clientTls,
    sasl: Type.Object(
      {
        mechanism: Type.Union(
          [Type.Literal('none'), Type.Literal('plain'), Type.Literal('scram-sha-256'), Type.Literal('scram-sha-512')],
          { description: 'How to log in.', default: 'none' },
        ),
        username: text('User name.', ''),
        password: secret('Password.'),
      },
      { additionalProperties: false, default: {}, description: 'Login at the brokers.' },
    ),
  },
  { additionalProperties: false, default: {}, description: 'Apache Kafka.' },
);

export const kafka = defineTopicLog({
  kind: 'kafka',
  title: 'Apache Kafka',
  settings,
  shared: true,
  problems: problemsOf,
  location: ({ brokers }) => `Kafka at ${brokers.join(', ')}`,
  create: (section, { dataFolder, registry, log }) =>
    createKafkaTopicLog({
      dataFolder,
      brokers: section.brokers,
      clientId: section.client_id,
      compression: section.compression,
      replication: section.replication,
      sessionTimeoutMs: section.session_timeout_ms,
      heartbeatMs: section.heartbeat_ms,
      requestTimeoutMs: section.request_timeout_ms,
      tls: section.tls,
      sasl: section.sasl,
      registry,
      log,
    }),
});

function problemsOf({ brokers, sasl, tls, ...section }: Static<typeof settings>): readonly SectionProblem[] {
  const problems: SectionProblem[] = [];
  const report = (path: SectionProblem['path'], got: string, allowed: string) =>
    void problems.push({ path, got, allowed });
  if (brokers.length === 0) report(['brokers'], 'an empty list, with topics.kind: kafka', 'at least one host:port');
  brokers.forEach((broker, at) => {
    if (!/^(?:\[[0-9a-f:]+\]|[^\s:/]+):\d{1,5}$/i.test(broker))
      report(['brokers', at], JSON.stringify(broker), 'host:port');
  });
  for (const field of ['username', 'password'] as const) {
    if (sasl.mechanism !== 'none' && sasl[field] === '')
      report(['sasl', field], `nothing, with mechanism: ${sasl.mechanism}`, 'a value, or mechanism: none');
  }
  if ((tls.cert_file === '') !== (tls.key_file === ''))
    report(
      ['tls', tls.cert_file === '' ? 'cert_file' : 'key_file'],
      'nothing, with the other half set',
      'both cert_file and key_file, or neither',
    );
  if (section.heartbeat_ms * 3 > section.session_timeout_ms)
    report(
      ['heartbeat_ms'],
      `${section.heartbeat_ms} ms, with a session_timeout_ms of ${section.session_timeout_ms}`,
      'at most a third of session_timeout_ms',
    );
  return problems;
}

export function createKafkaTopicLog(options: KafkaTopicLogOptions): TopicLog {
  let log: TopicLog | undefined;
  let loading: Promise<TopicLog> | undefined;
  const loaded = (): Promise<TopicLog> => {
    loading ??= import('./kafka/kafka-topic-log.js').then(({ KafkaTopicLog }) => {
      log = new KafkaTopicLog(kafkaSettings(options));
      return log;
    });
    return loading;
  };
  return {
    capabilities: () => kafkaCapabilities,
    start: async () => (await loaded()).start(),
    stop: async (deadlineMs) => (await loading)?.stop(deadlineMs),
    ensureTopics: async (specs) => (await loaded()).ensureTopics(specs),
    append: (topic, partition, records) =>
      log?.append(topic, partition, records) ?? Promise.reject(topicErrors.create('TOPIC_LOG_NOT_STARTED')),
    writable: () => log?.writable() ?? { ok: false, reason: 'the topic log does not run' },
    consume: async (consumeOptions, handler) => (await loaded()).consume(consumeOptions, handler),
    read: async (topic, partition, fromOffset, onRecords) =>
      (await loaded()).read(topic, partition, fromOffset, onRecords),
    partitions: async (topic) => (await loaded()).partitions(topic),
    trim: async (topic, partition, before) => (await loaded()).trim(topic, partition, before),
    committed: async (group, topic) => (await loaded()).committed(group, topic),
    generation: async (topic) => (await loaded()).generation(topic),
  };
}
