import { defineErrors } from '../../core/errors.js';

export const parkingErrors = defineErrors({
  PARKING_DRAIN_FAILED: {
    retryable: true,
    summary: 'A batch of a parking topic could not be stored; it is drained again.',
  },
  PARKING_RECORD_INVALID: { retryable: false, summary: 'A record of a parking topic was not written by Sluice.' },
  PARKING_ROUTE_LOST: {
    retryable: false,
    summary: 'A parked message is not routed to the index any more that it was parked for; replay it.',
  },
  PARKING_INDEX_UNKNOWN: {
    retryable: false,
    exitCode: 2,
    summary: 'No index of this name was ever made, or retention has closed or deleted it already.',
  },
  PARKING_INDEX_PRESENT: {
    retryable: false,
    exitCode: 2,
    summary: 'The index is there and open: what is parked for it drains by itself once it takes writes again.',
  },
});
