/** Errors of query texts, time ranges and searches. */
import { defineErrors } from '../core/errors.js';

export const searchErrors = defineErrors({
  SEARCH_QUERY_SYNTAX: { retryable: false, status: 400, exitCode: 2, summary: 'The query cannot be read here.' },
  SEARCH_QUERY_UNCLOSED: {
    retryable: false,
    status: 400,
    exitCode: 2,
    summary: 'Something opens here in the query and is never closed.',
  },
  SEARCH_QUERY_FIELD: {
    retryable: false,
    status: 400,
    exitCode: 2,
    summary: 'The query does not do this with that field.',
  },
  SEARCH_QUERY_EXPRESSION: {
    retryable: false,
    status: 400,
    exitCode: 2,
    summary: 'The regular expression is not one of RE2.',
  },
  SEARCH_QUERY_TIME: {
    retryable: false,
    status: 400,
    exitCode: 2,
    summary: 'The query compares a time with something that is no time.',
  },
  SEARCH_QUERY_TOO_LARGE: {
    retryable: false,
    status: 400,
    exitCode: 2,
    summary: 'The query is larger than the limits.',
  },
  SEARCH_QUERY_INVALID: { retryable: false, status: 400, exitCode: 2, summary: 'The query cannot be run.' },
  SEARCH_QUERY_WILDCARD: {
    retryable: false,
    status: 400,
    exitCode: 2,
    summary: 'The query begins a word with a wildcard, which is not allowed here.',
  },
  SEARCH_SORT_ORDER: { retryable: false, status: 400, exitCode: 2, summary: 'The order cannot be read.' },
  SEARCH_SORT_FIELD: {
    retryable: false,
    status: 400,
    exitCode: 2,
    summary: 'Messages cannot be sorted by this field.',
  },
  SEARCH_AGGREGATE_INVALID: { retryable: false, status: 400, exitCode: 2, summary: 'The aggregation cannot be run.' },
  SEARCH_CURSOR_INVALID: {
    retryable: false,
    status: 400,
    exitCode: 2,
    summary: 'The place to go on from cannot be read.',
  },
  SEARCH_LIMIT: {
    retryable: false,
    status: 400,
    exitCode: 2,
    summary: 'More messages are asked for than one answer gives.',
  },
  SEARCH_QUEUE_FULL: {
    retryable: true,
    status: 503,
    exitCode: 2,
    summary: 'Too many searches wait for their turn; ask again later.',
  },
  SEARCH_DEADLINE_EXCEEDED: {
    retryable: false,
    status: 504,
    exitCode: 2,
    summary: 'The search was cancelled, since it took too long; a shorter time range or a narrower query is faster.',
  },
  SEARCH_CANCELLED: { retryable: false, status: 409, exitCode: 2, summary: 'The search was cancelled.' },
  SEARCH_SNAPSHOT_LOST: {
    retryable: true,
    status: 503,
    exitCode: 2,
    summary: 'An index was deleted or closed while its rows were being read; start again.',
  },
  SEARCH_TIME_RANGE: { retryable: false, status: 400, exitCode: 2, summary: 'The time range cannot be read.' },
});
