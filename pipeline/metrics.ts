/**
 * Metrics of the pipeline. Within a run: decoded = appended + waiting; per index set routed = stored + already stored +
 * dead-lettered + parked + in flight.
 */
import { defineMetrics, latencyBuckets } from '../core/metrics.js';

export const pipelineMetrics = defineMetrics({
  appended: {
    type: 'counter',
    name: 'sluice_messages_appended_total',
    help: 'Messages durable in the topic logs.',
    labels: ['receiver'],
  },
  waiting: {
    type: 'gauge',
    name: 'sluice_messages_waiting',
    help: 'Decoded messages that are not yet durable in the topic.',
    labels: ['receiver'],
  },
  waitingBytes: { type: 'gauge', name: 'sluice_messages_waiting_bytes', help: 'Bytes that wait for the topic.' },
  refusalsAppended: {
    type: 'counter',
    name: 'sluice_refusals_appended_total',
    help: 'Inputs that could not be decoded, durable in the topic dead-letters.',
    labels: ['receiver'],
  },
  refusalsShed: {
    type: 'counter',
    name: 'sluice_refusals_shed_total',
    help: 'Inputs that could not be decoded and were not kept, because too many waited for the topic dead-letters.',
    labels: ['receiver'],
  },
  consumed: {
    type: 'counter',
    name: 'sluice_records_consumed_total',
    help: 'Records delivered from a topic, redeliveries included.',
    labels: ['topic'],
  },
  resent: {
    type: 'counter',
    name: 'sluice_records_resent_total',
    help: 'Records skipped because they had been taken before (a resend after a lost acknowledgement).',
    labels: ['topic'],
  },
  missing: {
    type: 'counter',
    name: 'sluice_records_missing_total',
    help: 'Gaps between the sequences of a run: accepted records that the topic has lost.',
    labels: ['topic'],
  },
  runsEvicted: {
    type: 'counter',
    name: 'sluice_runs_evicted_total',
    help: 'Receiver runs forgotten because more than 100 are known; a resend of theirs could be stored twice.',
    labels: ['topic'],
  },
  undecodable: {
    type: 'counter',
    name: 'sluice_records_undecodable_total',
    help: 'Records of the topic that are not messages (a foreign producer); they become dead letters.',
    labels: ['topic'],
  },
  dropped: { type: 'counter', name: 'sluice_messages_dropped_total', help: 'Messages that a rule dropped.' },
  streamMessages: {
    type: 'counter',
    name: 'sluice_stream_messages_total',
    help: 'Messages routed to a stream.',
    labels: ['stream'],
  },
  ruleMatches: {
    type: 'counter',
    name: 'sluice_rule_matches_total',
    help: 'Messages that a rule matched.',
    labels: ['rule'],
  },
  ruleFailures: {
    type: 'counter',
    name: 'sluice_rule_failures_total',
    help: 'Messages for which a rule threw; the other rules went on.',
    labels: ['rule'],
  },
  ruleSets: {
    type: 'counter',
    name: 'sluice_rule_set_loads_total',
    help: 'Changes of the rule files, by outcome: loaded or refused.',
    labels: ['outcome'],
  },
  routed: {
    type: 'counter',
    name: 'sluice_documents_routed_total',
    help: 'Documents on their way to an index set, redeliveries and those taken out of a parking topic included: a parked document is routed once more when it drains.',
    labels: ['index_set'],
  },
  stored: { type: 'counter', name: 'sluice_documents_stored_total', help: 'Documents stored.', labels: ['index_set'] },
  alreadyStored: {
    type: 'counter',
    name: 'sluice_documents_already_stored_total',
    help: 'Documents that a delivery before had stored.',
    labels: ['index_set'],
  },
  deadLettered: {
    type: 'counter',
    name: 'sluice_documents_dead_lettered_total',
    help: 'Documents that the store refused for good.',
    labels: ['index_set'],
  },
  parked: {
    type: 'counter',
    name: 'sluice_documents_parked_total',
    help: 'Documents appended to a parking topic instead of being written: the end of this delivery. Less sluice_documents_drained_total it is what waits there.',
    labels: ['index_set'],
  },
  retired: {
    type: 'counter',
    name: 'sluice_documents_retired_total',
    help: 'Documents for an index that retention had removed: done without a write.',
    labels: ['index_set'],
  },
  abandoned: {
    type: 'counter',
    name: 'sluice_documents_abandoned_total',
    help: 'Documents in flight when their partition was taken away or the program stopped; they are delivered again.',
    labels: ['index_set'],
  },
  inFlight: {
    type: 'gauge',
    name: 'sluice_documents_in_flight',
    help: 'Documents routed and not yet settled.',
    labels: ['index_set'],
  },
  repaired: {
    type: 'counter',
    name: 'sluice_documents_repaired_total',
    help: 'Documents changed to fit after the store had refused them.',
    labels: ['index_set'],
  },
  storeRetries: {
    type: 'counter',
    name: 'sluice_store_retries_total',
    help: 'Writes repeated, by code.',
    labels: ['index_set', 'code'],
  },
  appendSeconds: {
    type: 'histogram',
    name: 'sluice_append_seconds',
    help: 'From receive to durable in the topic, one observation a batch.',
    buckets: latencyBuckets,
  },
  storedSeconds: {
    type: 'histogram',
    name: 'sluice_stored_seconds',
    help: 'From receive to stored, the oldest message of a batch.',
    labels: ['index_set'],
    buckets: latencyBuckets,
  },
  oldestUnprocessed: {
    type: 'gauge',
    across: 'max',
    name: 'sluice_oldest_unprocessed_seconds',
    help: 'Age of the oldest message that is accepted and not yet stored; 0 when there is none.',
  },
  epoch: { type: 'gauge', across: 'max', name: 'sluice_epoch', help: 'Number of the newest epoch.' },
});
