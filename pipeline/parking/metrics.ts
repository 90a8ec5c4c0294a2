/** What is parked, by index set. `sluice_documents_parked_total` is one of the pipeline's own counts. */
import { defineMetrics } from '../../core/metrics.js';

export const parkingMetrics = defineMetrics({
  parkingMessages: {
    type: 'gauge',
    name: 'sluice_parking_messages',
    help: 'Messages in the parking topic of an index set that are not drained yet, repeated ones included.',
    labels: ['index_set'],
    across: 'max',
  },
  parkingBytes: {
    type: 'gauge',
    name: 'sluice_parking_bytes',
    help: 'Bytes of the messages in the parking topic that are not drained yet: their number times their mean size as this process saw it.',
    labels: ['index_set'],
    across: 'max',
  },
  parkingOldestAge: {
    type: 'gauge',
    name: 'sluice_parking_oldest_age_seconds',
    help: 'Time since the oldest message that is parked was received; 0 when nothing is parked.',
    labels: ['index_set'],
    across: 'max',
  },
  parkingState: {
    type: 'gauge',
    name: 'sluice_parking_state',
    help: 'Of an index set: 0 nothing is parked, 1 its parking topic drains, 2 it takes no writes and its messages are being parked.',
    labels: ['index_set'],
    across: 'max',
  },
  drained: {
    type: 'counter',
    name: 'sluice_documents_drained_total',
    help: 'Documents taken out of a parking topic; each is counted as routed once more, and as stored, already stored, dead-lettered or retired.',
    labels: ['index_set'],
  },
  parkingAlarms: {
    type: 'counter',
    name: 'sluice_parking_index_missing_total',
    help: 'Times that an index was found missing or closed which retention has not removed: restore it, or give it up with `npx sluice parking abandon`.',
    labels: ['index_set'],
  },
});
