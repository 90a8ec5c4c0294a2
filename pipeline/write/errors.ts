/** Errors about an index that stopped taking writes, as they stand in dead letters and logs. */
import { defineErrors } from '../../core/errors.js';

export const writeErrors = defineErrors({
  PARKING_INDEX_ABANDONED: {
    retryable: false,
    summary:
      'The index that the message was bound for was missing or closed, and an operator gave it up with `npx sluice parking abandon`; replay the message to put it into the newest index.',
  },
  PARKING_INDEX_UNUSABLE: {
    retryable: true,
    summary:
      'An index stopped taking writes between a refusal and what is done about it; the batch is delivered again.',
  },
});
