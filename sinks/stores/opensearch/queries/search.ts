/** Searches over many indices: those that type the queried fields alike together, the answers merged. */
import { standardFields } from '../../../../schemas/index-fields.js';
import type { IndexFailure, SearchAfter, SearchHit, SearchRequest, SearchResult } from '../../../../schemas/query.js';
import { storeErrors } from '../../errors.js';
import { comparePositions } from '../../sort-order.js';
import { askUntilAllAnswer, queryClause, type Timed } from './ask.js';
import { idField } from '../mapping.js';
import { typedFields, type Clause, type TypeOf } from './query.js';
import type { Send } from '../requests.js';
import { defaultSort, pageClauses, placeOf, type RawHit } from './sort.js';
import { groupByTypes, type TypeGroup } from './type-groups.js';

/** `index.max_result_window`: more hits than this are fetched page by page. */
const maxPage = 10_000;

interface RawResult {
  readonly hits: { readonly total?: { readonly value: number }; readonly hits: readonly RawHit[] };
  readonly aggregations?: { readonly total?: { readonly doc_count: number } };
}

interface FoundHit {
  readonly hit: RawHit;
  readonly place: SearchAfter;
}

interface Found {
  total: number;
  readonly hits: FoundHit[];
  readonly skipped: string[];
  readonly failures: IndexFailure[];
}

export async function search(send: Send, request: SearchRequest, timeoutMs: number): Promise<SearchResult> {
  const sort = request.sort ?? defaultSort;
  const groups = await searchGroups(send, request);
  const found: Found = { total: 0, hits: [], skipped: [], failures: [] };
  const timed = { ...request, timeoutMs: request.timeoutMs ?? timeoutMs };
  for (const group of groups) await searchGroup(send, timed, group, found);
  const byPlace = comparePositions(sort.direction);
  if (groups.length > 1) found.hits.sort((left, right) => byPlace(left.place, right.place));
  const first = found.hits.slice(0, request.limit);
  const wanted = request.fields === undefined ? undefined : new Set(request.fields);
  const { total, skipped, failures } = found;
  return {
    total: request.count === false ? first.length : total,
    hits: first.map(({ hit }) => toHit(hit, wanted)),
    skipped,
    next: first.at(-1)?.place,
    ...(failures.length > 0 ? { failures } : {}),
  };
}

/** The indices of a request by how they type what it asks for. */
export function searchGroups(
  send: Send,
  request: Pick<SearchRequest, 'indices' | 'query' | 'sort' | 'signal'>,
): Promise<TypeGroup[]> {
  const { field } = request.sort ?? defaultSort;
  if (standardFields.get(field) === 'text')
    throw storeErrors.create('STORE_QUERY_INVALID', {
      got: `sorting by ${field}`,
      allowed: 'fields that are not cut into words',
    });
  const fields = typedFields(request.query);
  if (field !== '_id' && !standardFields.has(field)) fields.add(field);
  return groupByTypes(send, [...new Set(request.indices)], [...fields], request.signal);
}

export function groupTypes(group: TypeGroup): TypeOf {
  return (field) => standardFields.get(field) ?? group.types.get(field);
}

async function searchGroup(send: Send, request: Timed<SearchRequest>, group: TypeGroup, found: Found): Promise<void> {
  const typeOf = groupTypes(group);
  const sort = request.sort ?? defaultSort;
  const query = queryClause(request, typeOf);
  const isCountedApart = countsApart(request);
  const body = { query, track_total_hits: request.count !== false && !isCountedApart, ...sourceClause(request.fields) };
  // What fails below is what this would fail with.
  const counted = isCountedApart
    ? askUntilAllAnswer(send, request, group.indices, { query, size: 0, track_total_hits: true })
    : undefined;
  counted?.catch(() => undefined);
  let { indices } = group;
  let left = request.limit;
  let { after } = request;
  for (let page = 0; indices.length > 0; page += 1) {
    const size = Math.min(left, maxPage);
    const answer = await askUntilAllAnswer(send, request, indices, {
      ...body,
      size,
      ...pageClauses(sort, after, typeOf),
    });
    found.skipped.push(...answer.skipped);
    indices = answer.indices;
    if (answer.body === undefined) return;
    const { hits, aggregations } = answer.body as RawResult;
    if (page === 0) {
      const count = await counted;
      const total = (count?.body as RawResult | undefined)?.hits.total?.value;
      found.total +=
        total === undefined
          ? (aggregations?.total?.doc_count ?? hits.total?.value ?? 0)
          : Math.max(total, hits.hits.length);
      found.failures.push(
        ...answer.failures,
        ...(count?.failures ?? []).filter(({ index }) => !answer.failures.some((one) => one.index === index)),
      );
      found.skipped.push(...(count?.skipped ?? []).filter((index) => !answer.skipped.includes(index)));
    }
    for (const hit of hits.hits) found.hits.push({ hit, place: placeOf(hit, sort, typeOf) });
    left -= hits.hits.length;
    after = found.hits.at(-1)?.place;
    if (left === 0 || hits.hits.length < size) return;
  }
}

/**
 * Messages of a range of time alone, by time: the engine counts them from its index of times, and finds the first
 * without a look at the others, but only where it is not asked for both at once.
 */
function countsApart({ query, count, sort = defaultSort, limit }: SearchRequest): boolean {
  return query.kind === 'all' && count !== false && limit > 0 && sort.field === 'timestamp';
}

export function sourceClause(fields: readonly string[] | undefined): Clause {
  if (fields === undefined || fields.some((field) => field.includes('*'))) return {};
  return { _source: fields.length === 0 ? false : fields };
}

export function toHit(hit: RawHit, wanted: ReadonlySet<string> | undefined): SearchHit {
  const fields = Object.entries(hit._source ?? {}).filter(
    ([name]) => name !== idField && (wanted === undefined || wanted.has(name)),
  );
  return { _id: hit._id, _index: hit._index, document: Object.fromEntries(fields) };
}
