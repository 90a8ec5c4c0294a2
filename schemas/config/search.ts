/** Settings of searching. */
import { Type, type Static } from 'typebox';
import { count, flag, milliseconds } from './common.js';

/**
 * What the setting may be at the most: schemas of requests refuse what no setting could allow, and the search layer all
 * else.
 */
export const maxQueryLength = 1_000_000;

export const searchOptions = Type.Object(
  {
    concurrent: count('Searches that the store works on at the same time; the others wait in turn by user.', 4, 1),
    queue_length: count('Searches that may wait; more are refused and may be sent again.', 100, 1),
    deadline_ms: milliseconds(
      'A search that has not ended after this time, waiting included, is cancelled. For exports: one page.',
      60_000,
    ),
    leading_wildcards: flag('Allow words that begin with * or ?, which look through every word of an index.', true),
    max_query_length: Type.Integer({
      description: 'Longest query text in characters. A head of a GET takes 16 KiB at the most.',
      default: 65_536,
      minimum: 100,
      maximum: maxQueryLength,
    }),
    max_clauses: count('Most clauses of a query; one without a field counts three. OpenSearch takes 1,024.', 1_000, 10),
    max_depth: count('Deepest nesting of AND, OR and NOT of a query. OpenSearch takes 20.', 16, 2),
    tail_poll_ms: milliseconds('How often a live tail looks for new messages.', 1_000),
  },
  { additionalProperties: false, default: {}, description: 'Searching.' },
);

export type SearchSettings = Static<typeof searchOptions>;
