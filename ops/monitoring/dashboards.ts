/** The dashboards that ship. The JSON files beside this one are made from it; a test keeps them equal. */
import { selector, type Dashboard, type Panel, type Query, type Unit } from './panels.js';

const rate = (metric: string, by: string): string => `sum by (${by}) (rate(${metric}{${selector}}[$__rate_interval]))`;
const rateOf = (metric: string, by: string, legend = `{{${by}}}`): Query => ({ expr: rate(metric, by), legend });
const sumOf = (metric: string, by: string, legend = `{{${by}}}`): Query => ({
  expr: `sum by (${by}) (${metric}{${selector}})`,
  legend,
});
const quantile = (share: number, metric: string, by?: string): Query => {
  const group = by === undefined ? 'le' : `le, ${by}`;
  return {
    expr: `histogram_quantile(${share}, sum by (${group}) (rate(${metric}_bucket{${selector}}[$__rate_interval])))`,
    legend: by === undefined ? `p${share * 100}` : `{{${by}}} p${share * 100}`,
  };
};
const panel = (title: string, description: string, unit: Unit, ...queries: readonly Query[]): Panel => ({
  title,
  description,
  unit,
  queries,
});
const single = (title: string, description: string, unit: Unit, expr: string): Panel => ({
  title,
  description,
  unit,
  queries: [{ expr, legend: '' }],
  single: true,
});

export const messages: Dashboard = {
  uid: 'sluice-messages',
  title: 'Sluice: messages',
  description:
    'From the socket to the index: what comes in, what is refused and why, how far behind the processors are, what becomes searchable.',
  rows: [
    {
      title: 'Now',
      panels: [
        single(
          'Received',
          'Messages a second over all receivers.',
          'ops',
          `sum(rate(sluice_messages_received_total{${selector}}[$__rate_interval]))`,
        ),
        single(
          'Stored',
          'Documents a second over all index sets.',
          'ops',
          `sum(rate(sluice_documents_stored_total{${selector}}[$__rate_interval]))`,
        ),
        single(
          'Backlog',
          'Accepted messages that no processor has settled.',
          'short',
          `max(sum by (instance) (sluice_topic_lag_records{${selector}}))`,
        ),
        single(
          'Oldest unprocessed',
          'Age of the oldest message that is being delivered.',
          's',
          `max(sluice_oldest_unprocessed_seconds{${selector}})`,
        ),
        single(
          'Refused in an hour',
          'Messages that were not acceptable.',
          'short',
          `sum(increase(sluice_messages_refused_total{${selector}}[1h]))`,
        ),
        single(
          'Shed in an hour',
          'UDP messages dropped because the pipeline was full, and datagrams that the kernel dropped.',
          'short',
          `sum(increase(sluice_messages_shed_total{${selector}}[1h])) + sum(increase(sluice_datagrams_dropped_total{${selector}}[1h]))`,
        ),
      ],
    },
    {
      title: 'Receivers',
      panels: [
        panel(
          'Messages received',
          'By receiver: frames, reassembled datagrams, messages of requests.',
          'ops',
          rateOf('sluice_messages_received_total', 'receiver'),
        ),
        panel(
          'Bytes received',
          'As sent, after TLS.',
          'Bps',
          rateOf('sluice_receiver_received_bytes_total', 'receiver'),
        ),
        panel(
          'Refused, shed, dropped',
          'Received is decoded, refused or shed; kernel drops come before.',
          'ops',
          rateOf('sluice_messages_refused_total', 'receiver', '{{receiver}} refused'),
          rateOf('sluice_messages_shed_total', 'receiver', '{{receiver}} shed'),
          rateOf('sluice_datagrams_dropped_total', 'receiver', '{{receiver}} dropped by the kernel'),
        ),
        panel(
          'Mistakes of senders',
          'Each is named with its cure in the log.',
          'ops',
          rateOf('sluice_diagnoses_made_total', 'diagnosis'),
        ),
        panel(
          'Connections',
          'Open, and not read because what they sent is not yet accepted.',
          'short',
          sumOf('sluice_connections_open', 'receiver', '{{receiver}} open'),
          sumOf('sluice_connections_paused', 'receiver', '{{receiver}} paused'),
        ),
        panel(
          'From receive to durable',
          'Time until a batch is in the topic.',
          's',
          quantile(0.5, 'sluice_append_seconds'),
          quantile(0.99, 'sluice_append_seconds'),
        ),
      ],
    },
    {
      title: 'Rules and streams',
      panels: [
        panel('Messages by stream', '', 'ops', rateOf('sluice_stream_messages_total', 'stream')),
        panel('Messages by rule', 'The ten rules that match most.', 'ops', {
          expr: `topk(10, ${rate('sluice_rule_matches_total', 'rule')})`,
          legend: '{{rule}}',
        }),
        panel(
          'Dropped and failed',
          'Messages that a rule dropped, and messages for which a rule threw.',
          'ops',
          { expr: `sum(rate(sluice_messages_dropped_total{${selector}}[$__rate_interval]))`, legend: 'dropped' },
          rateOf('sluice_rule_failures_total', 'rule', '{{rule}} failed'),
        ),
      ],
    },
    {
      title: 'Index sets',
      panels: [
        panel('Documents stored', '', 'ops', rateOf('sluice_documents_stored_total', 'index_set')),
        panel(
          'Dead-lettered, parked, repaired',
          'What did not go straight into its index.',
          'ops',
          rateOf('sluice_documents_dead_lettered_total', 'index_set', '{{index_set}} dead-lettered'),
          rateOf('sluice_documents_parked_total', 'index_set', '{{index_set}} parked'),
          rateOf('sluice_documents_repaired_total', 'index_set', '{{index_set}} repaired'),
        ),
        panel(
          'From receive to searchable',
          'One message every five seconds is followed.',
          's',
          quantile(0.5, 'sluice_searchable_seconds', 'index_set'),
          quantile(0.99, 'sluice_searchable_seconds', 'index_set'),
        ),
        panel('Size', 'All indices of a set.', 'bytes', {
          expr: `max by (index_set) (sluice_index_set_bytes{${selector}})`,
          legend: '{{index_set}}',
        }),
        panel('Documents', 'All indices of a set.', 'short', {
          expr: `max by (index_set) (sluice_index_set_documents{${selector}})`,
          legend: '{{index_set}}',
        }),
        panel(
          'Rotations and retirements',
          'Indices started, closed and deleted.',
          'ops',
          rateOf('sluice_index_rotations_total', 'index_set', '{{index_set}} rotated'),
          rateOf('sluice_index_retirements_total', 'index_set', '{{index_set}} retired'),
        ),
      ],
    },
    {
      title: 'Parking and dead letters',
      panels: [
        panel(
          'Parked messages',
          'Index sets that take no writes; they drain by themselves when they answer.',
          'short',
          { expr: `max by (index_set) (sluice_parking_messages{${selector}})`, legend: '{{index_set}}' },
        ),
        panel('Oldest parked', 'Receive time to now.', 's', {
          expr: `max by (index_set) (sluice_parking_oldest_age_seconds{${selector}})`,
          legend: '{{index_set}}',
        }),
        panel(
          'Dead letters',
          'By reason; and what operators replayed and dropped.',
          'ops',
          rateOf('sluice_dead_letters_total', 'code'),
          rateOf('sluice_dead_letter_replays_total', 'outcome', 'replay: {{outcome}}'),
          { expr: `sum(rate(sluice_dead_letters_dropped_total{${selector}}[$__rate_interval]))`, legend: 'dropped' },
        ),
      ],
    },
    {
      title: 'Outputs',
      panels: [
        panel(
          'Sent',
          'As far as the protocol can prove it.',
          'ops',
          rateOf('sluice_output_messages_sent_total', 'output'),
        ),
        panel('Waiting', 'In the topic of an output, not confirmed.', 'short', {
          expr: `max by (output) (sluice_output_messages_waiting{${selector}})`,
          legend: '{{output}}',
        }),
        panel(
          'Failed, dropped, not connected',
          'Refused for good by the destination; given up by the policy or by retention; attempts to connect.',
          'ops',
          rateOf('sluice_output_messages_failed_total', 'output', '{{output}} failed'),
          rateOf('sluice_output_messages_dropped_total', 'output', '{{output}} dropped'),
          rateOf('sluice_output_connections_failed_total', 'output', '{{output}} not connected'),
        ),
      ],
    },
  ],
};

export const engines: Dashboard = {
  uid: 'sluice-engines',
  title: 'Sluice: topics, store, processes',
  description:
    'Whether the engines keep up: appends and lag of the topics, writes and searches of the store, memory and event loop of the processes.',
  rows: [
    {
      title: 'Topics',
      panels: [
        panel('Records appended', '', 'ops', rateOf('sluice_topic_records_appended_total', 'topic')),
        panel('Bytes appended', 'Values only.', 'Bps', rateOf('sluice_topic_bytes_appended_total', 'topic')),
        panel('Backlog', 'Records between the commit and the end, by topic.', 'short', {
          expr: `max by (topic) (sum by (instance, topic) (sluice_topic_lag_records{${selector}}))`,
          legend: '{{topic}}',
        }),
        panel(
          'Append',
          'Until durable.',
          's',
          quantile(0.5, 'sluice_topic_append_seconds', 'topic'),
          quantile(0.99, 'sluice_topic_append_seconds', 'topic'),
        ),
        panel(
          'Appends refused or repeated',
          'A full disk, a broker that is away, an acknowledgement that was lost.',
          'ops',
          rateOf('sluice_topic_appends_refused_total', 'reason'),
          rateOf('sluice_topic_records_resent_total', 'topic', '{{topic}} resent'),
        ),
        panel(
          'Lost',
          'Records that the topic no longer has: must be nothing.',
          'short',
          {
            expr: `sum by (topic) (increase(sluice_topic_records_lost_total{${selector}}[1h]))`,
            legend: '{{topic}} lost',
          },
          {
            expr: `sum by (topic) (increase(sluice_records_missing_total{${selector}}[1h]))`,
            legend: '{{topic}} missing',
          },
        ),
      ],
    },
    {
      title: 'Store',
      panels: [
        panel(
          'Writes',
          'Until durable.',
          's',
          quantile(0.5, 'sluice_store_write_seconds'),
          quantile(0.99, 'sluice_store_write_seconds'),
        ),
        panel(
          'Searches',
          'Waiting included.',
          's',
          quantile(0.5, 'sluice_store_search_seconds'),
          quantile(0.99, 'sluice_store_search_seconds'),
        ),
        panel(
          'Repeated writes and errors',
          '',
          'ops',
          rateOf('sluice_store_retries_total', 'code', 'repeated: {{code}}'),
          rateOf('sluice_store_write_errors_total', 'code', 'rejected: {{code}}'),
        ),
      ],
    },
    {
      title: 'Processes',
      panels: [
        panel('CPU', 'Seconds of CPU a second.', 'short', {
          expr: `rate(process_cpu_seconds_total{${selector}}[$__rate_interval])`,
          legend: '{{instance}}',
        }),
        panel('Memory', 'Resident.', 'bytes', {
          expr: `process_resident_memory_bytes{${selector}}`,
          legend: '{{instance}}',
        }),
        panel('Event loop', 'How late timers are, 99th percentile.', 's', {
          expr: `nodejs_eventloop_lag_p99_seconds{${selector}}`,
          legend: '{{instance}}',
        }),
        panel('Waiting for the topic', 'Decoded messages that are not durable yet.', 'bytes', {
          expr: `sluice_messages_waiting_bytes{${selector}}`,
          legend: '{{instance}}',
        }),
        panel('File descriptors', '', 'short', { expr: `process_open_fds{${selector}}`, legend: '{{instance}}' }),
        panel('Epoch', 'Each rotation and each change of rules makes a new one; all instances should agree.', 'short', {
          expr: `sluice_epoch{${selector}}`,
          legend: '{{instance}}',
        }),
      ],
    },
  ],
};

export const dashboards: Readonly<Record<string, Dashboard>> = { 'messages.json': messages, 'engines.json': engines };
