/** Metrics of searching. */
import { defineMetrics, latencyBuckets } from '../core/metrics.js';

export const searchMetrics = defineMetrics({
  searches: {
    type: 'counter',
    name: 'sluice_searches_total',
    help: 'Searches that ended, by kind (messages, aggregate, rows, tail, fields) and outcome (ok, part, cancelled, late, refused, failed).',
    labels: ['kind', 'outcome'],
  },
  searchDuration: {
    type: 'histogram',
    name: 'sluice_search_duration_seconds',
    help: 'Time of a search as its caller saw it, waiting included.',
    labels: ['kind'],
    buckets: latencyBuckets,
  },
  queuedSearches: { type: 'gauge', name: 'sluice_searches_queued', help: 'Searches that wait for their turn.' },
  runningSearches: { type: 'gauge', name: 'sluice_searches_running', help: 'Searches that the store works on.' },
});
