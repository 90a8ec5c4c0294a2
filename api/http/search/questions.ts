/** From a query of a search and one of its search types to a question for the search layer. */
import type { Identity } from '../../../schemas/access.js';
import type { ExecuteBody, QueryOfSearchBody, SearchTypeBody } from '../../../schemas/api-search.js';
import type { SearchQuestion } from '../../../search/contract.js';
import { failure } from '../failure.js';
import type { ApiServices } from '../services.js';
import { readableStreams } from '../stream-ids.js';
import { effectiveRange, resolveRange, type EffectiveRange } from './times/time-ranges.js';

/** One search type of a search, with the query that it stands in. */
export interface AskedType {
  readonly query: QueryOfSearchBody;
  readonly type: SearchTypeBody;
  readonly override: ExecuteBody['global_override'];
  /** How many messages the question has, where somebody counts them anyway; undefined when that failed. */
  readonly counted?: Promise<number | undefined> | undefined;
}

export interface Asked {
  readonly question: SearchQuestion;
  readonly effective: EffectiveRange;
}

export interface Context {
  readonly services: ApiServices;
  readonly identity: Identity;
  readonly signal: AbortSignal;
  readonly now: number;
  readonly deadlineMs?: number | undefined;
}

/** Deeper filters are no filters of a person. */
const maxFilterDepth = 8;

export function askedBy(
  { services, identity, now }: Pick<Context, 'services' | 'identity' | 'now'>,
  query: QueryOfSearchBody,
  type: Partial<SearchTypeBody>,
  override: ExecuteBody['global_override'],
): Asked {
  const filters = [query.filter, type.filter].map((filter) => readFilter(filter, 0));
  const streams = type.streams ?? (query.streams !== undefined && query.streams.length > 0 ? query.streams : undefined);
  const wanted = [streams, ...filters.map((filter) => filter.streams)].filter(
    (one) => one !== undefined && one.length > 0,
  ) as (readonly string[])[];
  const [first, ...others] = wanted.map((keys) => readableStreams(services, identity, keys) ?? []);
  const texts = [
    override?.query?.query_string ?? query.query?.query_string,
    type.query?.query_string,
    ...filters.flatMap((filter) => filter.texts),
    ...searchFilterTexts(query.filters),
    ...searchFilterTexts(type.filters),
  ].filter((text) => text !== undefined && text.trim() !== '' && text.trim() !== '*') as string[];
  const range = resolveRange(override?.timerange ?? type.timerange ?? query.timerange, now);
  return {
    question: {
      query: texts.length > 1 ? texts.map((text) => `(${text})`).join(' AND ') : (texts[0] ?? ''),
      ...range,
      streams: first?.filter((id) => others.every((ids) => ids.includes(id))),
    },
    effective: effectiveRange(range, now),
  };
}

/** Those of a search or a part of it; there are none that are kept for several. */
function searchFilterTexts(filters: QueryOfSearchBody['filters']): readonly string[] {
  return (filters ?? []).flatMap(({ type, queryString = '', negation, disabled }, at) => {
    if (type !== 'inlineQueryString')
      throw failure(
        'API_VALUE_INVALID',
        `filters[${at}].type: There is no such filter. Got ${JSON.stringify(type.slice(0, 50))}. Allowed: inlineQueryString.`,
        { body: { path: `filters[${at}].type` } },
      );
    if (disabled === true || queryString.trim() === '') return [];
    return [negation === true ? `NOT (${queryString})` : queryString];
  });
}

interface Filter {
  readonly streams: readonly string[] | undefined;
  readonly texts: readonly string[];
}

const noFilter: Filter = { streams: undefined, texts: [] };

function readFilter(filter: unknown, depth: number): Filter {
  if (filter === undefined || filter === null) return noFilter;
  if (depth > maxFilterDepth || typeof filter !== 'object') throw unreadable('a deeper one');
  const { type, id, query, filters } = filter as { type?: unknown; id?: unknown; query?: unknown; filters?: unknown };
  if (type === 'stream' && typeof id === 'string') return { streams: [id], texts: [] };
  if (type === 'query_string' && typeof query === 'string') return { streams: undefined, texts: [query] };
  if ((type !== 'or' && type !== 'and') || !(filters === undefined || filters === null || Array.isArray(filters)))
    throw unreadable(JSON.stringify(type) ?? 'none');
  const parts = ((filters ?? []) as readonly unknown[]).slice(0, 1_000).map((one) => readFilter(one, depth + 1));
  const texts = parts.flatMap((part) => part.texts);
  const streams = parts.flatMap((part) => part.streams ?? []);
  if (type === 'or' && texts.length > 0 && streams.length > 0) throw unreadable('streams or texts in one or');
  return {
    streams: streams.length === 0 ? undefined : streams,
    texts: type === 'or' && texts.length > 1 ? [texts.map((text) => `(${text})`).join(' OR ')] : texts,
  };
}

function unreadable(got: string): Error {
  return failure(
    'API_VALUE_INVALID',
    `filter: This filter cannot be used. Got ${got}. Allowed: {type: or, filters: [{type: stream, id}]}, and {type: query_string, query} within and.`,
    { body: { path: 'filter' } },
  );
}
