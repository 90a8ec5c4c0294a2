/** Metrics that the primary process adds to those of its workers. */
import { defineMetrics } from '../../core/metrics.js';

export const workerMetrics = defineMetrics({
  configured: { type: 'gauge', name: 'sluice_workers_configured', help: 'Worker processes that the settings ask for.' },
  ready: { type: 'gauge', name: 'sluice_workers_ready', help: 'Worker processes that have started and answer.' },
  restarts: {
    type: 'counter',
    name: 'sluice_worker_restarts_total',
    help: 'Worker processes that ended and were started again.',
    labels: ['worker'],
  },
});
