import { defineErrors } from '../../core/errors.js';

export const indexSetErrors = defineErrors({
  PIPELINE_INDEX_UNKNOWN: { retryable: false, status: 404, summary: 'There is no such index.' },
  PIPELINE_INDEX_IN_USE: {
    retryable: false,
    status: 403,
    summary: 'Messages are written to this index; rotate its index set first.',
  },
  PIPELINE_INDEX_CHANGED: {
    retryable: true,
    status: 409,
    summary: 'The index is just being changed; look at it again.',
  },
});
