/** The kinds of topic logs. A new one is one file and one line here. */
import type { Log } from '../core/log.js';
import type { Registry } from '../core/metrics.js';
import type { Config } from '../schemas/config/config.js';
import type { TopicLog } from './contract.js';
import { createEmbeddedTopicLog } from './embedded.js';
import { createKafkaTopicLog } from './kafka.js';

export interface TopicLogContext {
  readonly registry: Registry;
  readonly log: Log;
  /** Only reading, beside the process that writes. */
  readonly readOnly?: boolean;
}

export const topicLogKinds: Readonly<Record<string, (config: Config, context: TopicLogContext) => TopicLog>> = {
  embedded: (config, context) =>
    createEmbeddedTopicLog({
      folder: config.data_folder,
      segmentBytes: config.topics.embedded.segment_bytes,
      reserveBytes: config.topics.embedded.reserve_bytes,
      ...context,
    }),
  kafka: ({ topics: { kafka }, data_folder: dataFolder }, { registry, log }) =>
    createKafkaTopicLog({
      dataFolder,
      brokers: kafka.brokers,
      clientId: kafka.client_id,
      compression: kafka.compression,
      replication: kafka.replication,
      sessionTimeoutMs: kafka.session_timeout_ms,
      heartbeatMs: kafka.heartbeat_ms,
      requestTimeoutMs: kafka.request_timeout_ms,
      tls: kafka.tls,
      sasl: kafka.sasl,
      registry,
      log,
    }),
};

export function createTopicLog(config: Config, context: TopicLogContext): TopicLog {
  const create = topicLogKinds[config.topics.kind];
  if (create === undefined) throw new Error(`no topic log of kind ${config.topics.kind}`);
  return create(config, context);
}
