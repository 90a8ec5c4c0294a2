/** The durable topic of an output: one partition, so that its messages keep their order. */
import type { Config } from '../../schemas/config/config.js';
import type { OutputSettings } from '../../schemas/outputs/output.js';
import type { TopicLogCapabilities, TopicSpec } from '../../topics/contract.js';

/** What rules may add to a message that was of the largest size. */
const addedBytes = 2 ** 20;

export const outputTopic = ({ topics }: Config, id: string): string => `${topics.prefix}output.${id}`;
export const outputGroup = ({ processing }: Config, id: string): string => `${processing.group}.output.${id}`;

/**
 * A log that keeps what no group has read need not keep what was sent; any other deletes what is older or more than
 * this, sent or not.
 */
export function outputTopicSpec(
  config: Config,
  { keepsUnread, deletionBytes }: TopicLogCapabilities,
  output: Pick<OutputSettings, 'id' | 'max_waiting_bytes' | 'max_age_ms'>,
): TopicSpec {
  const { topics } = config;
  return {
    name: outputTopic(config, output.id),
    partitions: 1,
    retentionBytes:
      keepsUnread && deletionBytes !== undefined ? deletionBytes : (output.max_waiting_bytes ?? topics.retention_bytes),
    retentionMs: output.max_age_ms ?? topics.retention_ms,
    maxMessageBytes: topics.max_message_bytes + addedBytes,
  };
}
