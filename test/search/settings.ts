import type { SearchSettings } from '../../schemas/config/search.js';

/** Settings of a searcher under test: a deadline that no search meets, and a tail that looks often. */
export const searchSettings: SearchSettings = {
  concurrent: 2,
  queue_length: 50,
  deadline_ms: 60_000,
  leading_wildcards: true,
  max_query_length: 65_536,
  max_clauses: 1_000,
  max_depth: 16,
  tail_poll_ms: 20,
};
