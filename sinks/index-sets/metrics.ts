/** Metrics of index sets. */
import { defineMetrics } from '../../core/metrics.js';

export const indexSetMetrics = defineMetrics({
  indexBytes: {
    type: 'gauge',
    across: 'max',
    name: 'sluice_index_set_bytes',
    help: 'Bytes of all indices of a set.',
    labels: ['index_set'],
  },
  indexDocuments: {
    type: 'gauge',
    across: 'max',
    name: 'sluice_index_set_documents',
    help: 'Documents of all indices of a set.',
    labels: ['index_set'],
  },
  rotations: {
    type: 'counter',
    name: 'sluice_index_rotations_total',
    help: 'Indices started, by cause.',
    labels: ['index_set', 'cause'],
  },
  retirements: {
    type: 'counter',
    name: 'sluice_index_retirements_total',
    help: 'Indices closed or deleted by retention.',
    labels: ['index_set', 'action'],
  },
});
