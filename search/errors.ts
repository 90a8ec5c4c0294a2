/** Errors of query texts and time ranges. */
import { defineErrors } from '../core/errors.js';

export const searchErrors = defineErrors({
  SEARCH_QUERY_SYNTAX: { retryable: false, summary: 'The query cannot be read here.' },
  SEARCH_QUERY_UNCLOSED: { retryable: false, summary: 'Something opens here in the query and is never closed.' },
  SEARCH_QUERY_FIELD: { retryable: false, summary: 'The query does not do this with that field.' },
  SEARCH_QUERY_EXPRESSION: { retryable: false, summary: 'The regular expression is not one of RE2.' },
  SEARCH_QUERY_TIME: { retryable: false, summary: 'The query compares a time with something that is no time.' },
  SEARCH_QUERY_TOO_LARGE: { retryable: false, summary: 'The query is larger than the limits.' },
  SEARCH_TIME_RANGE: { retryable: false, summary: 'The time range cannot be read.' },
});
