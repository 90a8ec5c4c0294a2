import { defineMetrics, latencyBuckets } from '../../core/metrics.js';

export const apiMetrics = defineMetrics({
  requests: {
    type: 'counter',
    name: 'sluice_api_requests_total',
    help: 'Requests that the API answered, by route and status.',
    labels: ['method', 'route', 'status'],
  },
  requestSeconds: {
    type: 'histogram',
    name: 'sluice_api_request_seconds',
    help: 'Time until the API had answered, by route.',
    labels: ['method', 'route'],
    buckets: latencyBuckets,
  },
  auditSent: {
    type: 'counter',
    name: 'sluice_audit_records_sent_total',
    help: 'Audit records that are durable in the topic.',
  },
  auditLost: {
    type: 'counter',
    name: 'sluice_audit_records_lost_total',
    help: 'Audit records that could not be sent into the pipeline; they stand in the log of the program.',
  },
  tails: { type: 'gauge', name: 'sluice_api_tails', help: 'Live tails that are open.' },
  tailSkipped: {
    type: 'counter',
    name: 'sluice_api_tail_skipped_total',
    help: 'Messages that readers of live tails did not get, since they were too slow; each was told how many.',
  },
  exports: { type: 'gauge', name: 'sluice_api_exports', help: 'CSV exports under way.' },
  exportedRows: { type: 'counter', name: 'sluice_api_exported_rows_total', help: 'Rows written by CSV exports.' },
});
