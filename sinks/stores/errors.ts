/** Errors of both index stores. */
import { defineErrors } from '../../core/errors.js';

export const storeErrors = defineErrors({
  STORE_UNAVAILABLE: { retryable: true, summary: 'The index store does not answer; the same request is sent again.' },
  STORE_OVERLOADED: {
    retryable: true,
    summary: 'The index store has more requests waiting than it takes; the same request is sent again later.',
  },
  STORE_DISK_FULL: {
    retryable: true,
    summary:
      'The disk of the index store has less free space than its reserve; free some, or let retention delete older indices.',
  },
  STORE_INDEX_BLOCKED: { retryable: true, summary: 'This index does not take writes at the moment; other indices do.' },
  STORE_INDEX_MISSING: { retryable: false, summary: 'This index does not exist.' },
  STORE_INDEX_CLOSED: { retryable: false, summary: 'This index is closed; open it first.' },
  STORE_INDEX_NAME_INVALID: { retryable: false, summary: 'This name cannot be the name of an index.' },
  STORE_DOCUMENT_INVALID: { retryable: false, summary: 'A document is not a JSON object.' },
  STORE_DOCUMENT_FAILED: {
    retryable: true,
    summary:
      'The index store failed on this document; it is written again, and becomes a dead letter when it fails each time.',
  },
  STORE_DOCUMENT_REFUSED: { retryable: false, summary: 'The index store refused a document for what is in it.' },
  STORE_QUERY_INVALID: { retryable: false, summary: 'The index store cannot run this query.' },
  STORE_SEARCH_CANCELLED: { retryable: false, summary: 'The search was cancelled.' },
  STORE_STOPPED: { retryable: false, summary: 'The index store has been stopped, or was never started.' },
});
