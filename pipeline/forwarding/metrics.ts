/** Metrics of the outputs. */
import { defineMetrics } from '../../core/metrics.js';

export const outputMetrics = defineMetrics({
  forwarded: {
    type: 'counter',
    name: 'sluice_output_messages_forwarded_total',
    help: 'Messages appended to the topic of an output, redeliveries included.',
    labels: ['output'],
  },
  sent: {
    type: 'counter',
    name: 'sluice_output_messages_sent_total',
    help: 'Messages that a destination has taken, as far as its protocol can prove it.',
    labels: ['output'],
  },
  failed: {
    type: 'counter',
    name: 'sluice_output_messages_failed_total',
    help: 'Messages that a destination refuses for good, or that cannot be made fit for it.',
    labels: ['output'],
  },
  dropped: {
    type: 'counter',
    name: 'sluice_output_messages_dropped_total',
    help: 'Messages that were never sent, by reason: oldest or newest (the policy on_full), age, retention (the topic expired), disk, too_large, removed (the output no longer exists).',
    labels: ['output', 'reason'],
  },
  repeated: {
    type: 'counter',
    name: 'sluice_output_messages_repeated_total',
    help: 'Messages that stood in the topic twice and were sent once.',
    labels: ['output'],
  },
  overLong: {
    type: 'counter',
    name: 'sluice_output_messages_over_long_total',
    help: 'Messages longer than the output may send, by what became of them: truncated, split, dropped.',
    labels: ['output', 'kind'],
  },
  attemptsFailed: {
    type: 'counter',
    name: 'sluice_output_connections_failed_total',
    help: 'Attempts to connect and connections that failed.',
    labels: ['output'],
  },
  connected: {
    type: 'gauge',
    across: 'max',
    name: 'sluice_output_connected',
    help: '1 while the destination is connected.',
    labels: ['output'],
  },
  waiting: {
    type: 'gauge',
    across: 'max',
    name: 'sluice_output_messages_waiting',
    help: 'Messages in the topic of an output that are not confirmed as sent.',
    labels: ['output'],
  },
  oldest: {
    type: 'gauge',
    across: 'max',
    name: 'sluice_output_oldest_seconds',
    help: 'Age of the oldest message that waits for an output and is not confirmed; 0 when there is none.',
    labels: ['output'],
  },
});
