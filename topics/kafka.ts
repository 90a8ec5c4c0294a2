/** Topics on Apache Kafka: several processes share one log. The client is loaded at the first use, so that embedded topics do not pay for it. */
import type { TopicLog } from './contract.js';
import { topicErrors } from './errors.js';
import { kafkaSettings, type KafkaTopicLogOptions } from './kafka/options.js';

export type { KafkaTopicLogOptions };

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
    capabilities: () => ({ shared: true, name: 'kafka' }),
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
