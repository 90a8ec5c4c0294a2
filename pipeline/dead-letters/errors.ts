import { defineErrors } from '../../core/errors.js';

export const deadLetterErrors = defineErrors({
  DEAD_LETTER_TRUNCATED: {
    retryable: false,
    exitCode: 2,
    summary: 'Only the head of this input was kept, so it cannot be replayed.',
  },
  DEAD_LETTER_SEVERAL_MESSAGES: {
    retryable: false,
    exitCode: 2,
    summary: 'The dead letter holds several messages; send them again one by one.',
  },
  DEAD_LETTER_SET_MISSING: {
    retryable: false,
    exitCode: 2,
    summary: 'The index set that refused the document is no longer in the rules.',
  },
  DEAD_LETTER_STUB_MET: {
    retryable: false,
    exitCode: 2,
    summary: 'The index refused the document in an earlier attempt of this replay.',
  },
});
