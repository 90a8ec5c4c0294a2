/**
 * What the routes for scripts share: members of questions, the answer as a table, lists and ranges as query strings
 * write them.
 */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { parseDuration } from '../../../../core/time/durations.js';
import { queryText, timeRangeBody, type TimeRangeBody } from '../../../../schemas/api-search.js';
import { auditedQuery, membersOf, someOf, type Audited } from '../../audited.js';
import { tableTypes } from '../../search/tables.js';

export const name = Type.String({ maxLength: 256 });
export const common = {
  query: Type.Optional(Type.Union([queryText(), Type.Null()])),
  streams: Type.Optional(Type.Union([Type.Array(Type.String({ maxLength: 100 }), { maxItems: 1_000 }), Type.Null()])),
  timerange: Type.Optional(Type.Union([timeRangeBody, Type.Null()])),
};
export const order = Type.Union([
  Type.Literal('asc'),
  Type.Literal('desc'),
  Type.Literal('ASC'),
  Type.Literal('DESC'),
  Type.Literal('Ascending'),
  Type.Literal('Descending'),
]);
const table = Type.Object({
  schema: Type.Array(
    Type.Object({
      column_type: Type.String(),
      type: Type.String(),
      function: Type.Optional(Type.String()),
      field: Type.Optional(Type.String()),
      name: Type.String(),
    }),
  ),
  datarows: Type.Array(Type.Array(Type.Unknown())),
  metadata: Type.Object({ effective_timerange: Type.Unknown(), total_results: Type.Optional(Type.Integer()) }),
});
export const response = { 200: table };
export const listQuery = {
  query: Type.Optional(queryText()),
  streams: Type.Optional(Type.Array(Type.String({ maxLength: 10_000 }))),
  timerange: Type.Optional(Type.String({ maxLength: 100, description: '15m, 2h, 1d, or words: last five minutes' })),
};

/** What every route for scripts declares. */
export const config = {
  permission: 'authenticated',
  checks: 'shows what may be read',
  audit: 'search:execute',
  audited: ({ method, body, query }: FastifyRequest): Audited => {
    const asked = membersOf(method === 'POST' ? body : query);
    return auditedQuery(asked['query'], someOf(asked, ['streams', 'timerange']));
  },
  produces: tableTypes,
} as const;

/** Each text may be a list itself, joined by commas. */
export const split = (texts: readonly string[] | undefined): string[] | undefined =>
  texts
    ?.flatMap((text) => text.split(','))
    .map((text) => text.trim())
    .filter((text) => text !== '');

export function rangeOfText(text: string | undefined): TimeRangeBody | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const duration = parseDuration(text);
  return duration === undefined
    ? { type: 'keyword', keyword: text }
    : { type: 'relative', range: Math.ceil(duration / 1000) };
}
