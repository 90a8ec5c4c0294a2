/** Metrics of the topic logs, both adapters. */
import { defineMetrics, latencyBuckets } from '../core/metrics.js';

export const topicMetrics = defineMetrics({
  recordsAppended: {
    type: 'counter',
    name: 'sluice_topic_records_appended_total',
    help: 'Records whose append was acknowledged.',
    labels: ['topic'],
  },
  bytesAppended: {
    type: 'counter',
    name: 'sluice_topic_bytes_appended_total',
    help: 'Bytes of the values whose append was acknowledged.',
    labels: ['topic'],
  },
  appendSeconds: {
    type: 'histogram',
    name: 'sluice_topic_append_seconds',
    help: 'From the call of an append until it was durable.',
    labels: ['topic'],
    buckets: latencyBuckets,
  },
  appendsRefused: {
    type: 'counter',
    name: 'sluice_topic_appends_refused_total',
    help: 'Attempts to append that failed and were put back to wait (disk full, write failed, broker away).',
    labels: ['topic', 'reason'],
  },
  recordsResent: {
    type: 'counter',
    name: 'sluice_topic_records_resent_total',
    help: 'Records sent again because no acknowledgement came; they may stand twice in the topic (Kafka).',
    labels: ['topic'],
  },
  waitingBytes: {
    type: 'gauge',
    name: 'sluice_topic_waiting_bytes',
    help: 'Bytes of appends that wait for their acknowledgement (Kafka).',
    labels: ['topic'],
  },
  syncSeconds: {
    type: 'histogram',
    name: 'sluice_topic_sync_seconds',
    help: 'Duration of a sync of a segment file to the disk (embedded).',
    buckets: latencyBuckets,
  },
  segments: { type: 'gauge', name: 'sluice_topic_segments', help: 'Segment files (embedded).', labels: ['topic'] },
  bytes: {
    type: 'gauge',
    name: 'sluice_topic_bytes',
    help: 'Bytes of the segment files (embedded).',
    labels: ['topic'],
  },
  tornBytesCut: {
    type: 'counter',
    name: 'sluice_topic_torn_bytes_cut_total',
    help: 'Bytes of appends that were never acknowledged, cut off at a start (embedded).',
    labels: ['topic'],
  },
  recordsLost: {
    type: 'counter',
    name: 'sluice_topic_records_lost_total',
    help: 'Offsets that a consumer expected and the topic no longer had, or whose checksum did not match.',
    labels: ['group', 'topic'],
  },
  retentionHeld: {
    type: 'gauge',
    name: 'sluice_topic_retention_held_bytes',
    help: 'Bytes past retention that are kept because a group has not consumed them (embedded).',
    labels: ['topic'],
  },
  lag: {
    type: 'gauge',
    name: 'sluice_topic_lag_records',
    help: 'Records between the committed offset of a group and the log end.',
    labels: ['group', 'topic', 'partition'],
  },
  recordsConsumed: {
    type: 'counter',
    name: 'sluice_topic_records_consumed_total',
    help: 'Records handed to a consumer whose batch was handled.',
    labels: ['group', 'topic'],
  },
  batchesRedelivered: {
    type: 'counter',
    name: 'sluice_topic_batches_redelivered_total',
    help: 'Batches delivered again after the handler rejected them.',
    labels: ['group', 'topic'],
  },
});
