/** Metrics of both index stores. */
import { defineMetrics, latencyBuckets } from '../../core/metrics.js';

export const storeMetrics = defineMetrics({
  writeSeconds: {
    type: 'histogram',
    name: 'sluice_store_write_seconds',
    help: 'Time of one write request to the index store, until it is durable.',
    labels: ['store'],
    buckets: latencyBuckets,
  },
  writtenDocuments: {
    type: 'counter',
    name: 'sluice_store_documents_written_total',
    help: 'Documents stored by the index store.',
    labels: ['store'],
  },
  writeErrors: {
    type: 'counter',
    name: 'sluice_store_write_errors_total',
    help: 'Write requests that the index store rejected, by error code.',
    labels: ['store', 'code'],
  },
  searchSeconds: {
    type: 'histogram',
    name: 'sluice_store_search_seconds',
    help: 'Time of one search, waiting included.',
    labels: ['store'],
    buckets: latencyBuckets,
  },
  waitingSearches: {
    type: 'gauge',
    name: 'sluice_store_searches_waiting',
    help: 'Searches that wait for their turn.',
    labels: ['store'],
  },
  retainedBytes: {
    type: 'gauge',
    name: 'sluice_store_kept_bytes',
    help: 'Memory of what searches have left for those that come next: rows and counts by time (embedded store).',
    labels: ['store'],
  },
  wordsBehind: {
    type: 'gauge',
    name: 'sluice_store_words_behind',
    help: 'Documents of the indices in use that searches for words look through, since their words are not in the index of words yet (embedded store).',
    labels: ['store'],
  },
  wordFailures: {
    type: 'counter',
    name: 'sluice_store_words_failures_total',
    help: 'Words of some documents could not be added to the index of words; tried again each minute (embedded store).',
    labels: ['store'],
  },
  searchableSeconds: {
    type: 'histogram',
    name: 'sluice_searchable_seconds',
    help: 'From receive to found by a search, of one message every 5 seconds.',
    labels: ['index_set'],
    buckets: latencyBuckets,
  },
  checkpointSeconds: {
    type: 'histogram',
    name: 'sluice_store_checkpoint_seconds',
    help: 'Time to fold a write-ahead log into its database file on request.',
    labels: ['store'],
    buckets: latencyBuckets,
  },
});
