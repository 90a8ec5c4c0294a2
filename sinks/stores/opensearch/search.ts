/** Searches over many indices: those that type the queried fields alike together, the answers merged. */
import { faultOf } from '../../../core/opensearch-client.js';
import { standardFields } from '../../../schemas/index-fields.js';
import type { SearchHit, SearchRequest, SearchResult } from '../../../schemas/query.js';
import { storeErrors } from '../errors.js';
import type { FieldType } from '../contract.js';
import { wholeError } from './bulk.js';
import { flatTypes, idField, stubField, type MappedField } from './mapping.js';
import { compileQuery, typedFields, type Clause, type TypeOf } from './query.js';
import { chunkNames, indicesPath, sendExpecting, type Send } from './requests.js';

/** `index.max_result_window`: more hits than this are fetched page by page. */
const maxPage = 10_000;

interface RawHit {
  readonly _id: string;
  readonly _index: string;
  readonly _source?: Record<string, unknown>;
  readonly sort: readonly (string | number | null)[];
}

interface RawResult {
  readonly timed_out: boolean;
  readonly hits: { readonly total: { readonly value: number }; readonly hits: readonly RawHit[] };
}

interface Group {
  readonly indices: readonly string[];
  readonly types: ReadonlyMap<string, FieldType>;
}

interface Found {
  total: number;
  readonly hits: RawHit[];
  readonly skipped: string[];
}

export async function search(send: Send, request: SearchRequest, timeoutMs: number): Promise<SearchResult> {
  const sort = request.sort ?? { field: 'timestamp', direction: 'desc' };
  if (standardFields.get(sort.field) === 'text') throw storeErrors.create('STORE_QUERY_INVALID', { got: `sorting by ${sort.field}`, allowed: 'fields that are not cut into words' });
  const fields = typedFields(request.query);
  if (sort.field !== '_id' && !standardFields.has(sort.field)) fields.add(sort.field);
  const groups = await groupByTypes(send, [...new Set(request.indices)], [...fields], request.signal);
  const found: Found = { total: 0, hits: [], skipped: [] };
  for (const group of groups) await searchGroup(send, request, group, timeoutMs, found);
  if (groups.length > 1) found.hits.sort(compareHits(sort.direction));
  const wanted = request.fields === undefined ? undefined : new Set(request.fields);
  return { total: found.total, hits: found.hits.slice(0, request.limit).map((hit) => toHit(hit, wanted)), skipped: found.skipped };
}

async function groupByTypes(send: Send, indices: readonly string[], fields: readonly string[], signal: AbortSignal | undefined): Promise<Group[]> {
  const groups = new Map<string, { indices: string[]; types: ReadonlyMap<string, FieldType> }>();
  for (const chunk of chunkNames(indices)) {
    const known = fields.length === 0 ? new Map<string, ReadonlyMap<string, FieldType>>() : await typesOf(send, chunk, fields, signal);
    for (const index of chunk) {
      const types = known.get(index) ?? new Map<string, FieldType>();
      const signature = fields.map((field) => types.get(field) ?? '').join();
      const group = groups.get(signature);
      if (group === undefined) groups.set(signature, { indices: [index], types });
      else group.indices.push(index);
    }
  }
  return [...groups.values()].flatMap((group) => chunkNames(group.indices).map((names) => ({ indices: names, types: group.types })));
}

type MappingReply = Readonly<Record<string, { readonly mappings: { readonly properties?: Readonly<Record<string, MappedField>> } }>>;

async function typesOf(send: Send, indices: readonly string[], fields: readonly string[], signal: AbortSignal | undefined): Promise<Map<string, ReadonlyMap<string, FieldType>>> {
  const reply = await sendExpecting(send, { method: 'GET', path: indicesPath(indices, '_mapping'), query: { ignore_unavailable: true }, signal }, 'mapping', [404]);
  const known = new Map<string, ReadonlyMap<string, FieldType>>();
  if (reply.status === 404) return known;
  for (const [index, { mappings }] of Object.entries(reply.body as MappingReply)) {
    const types = flatTypes(mappings.properties ?? {});
    known.set(index, new Map(fields.flatMap((field) => (types.has(field) ? [[field, types.get(field) as FieldType]] : []))));
  }
  return known;
}

async function searchGroup(send: Send, request: SearchRequest, group: Group, timeoutMs: number, found: Found): Promise<void> {
  const typeOf: TypeOf = (field) => standardFields.get(field) ?? group.types.get(field);
  const body = searchBody(request, typeOf);
  let indices = [...group.indices];
  let left = request.limit;
  let after: readonly (string | number | null)[] | undefined = request.after === undefined ? undefined : afterValues(request, typeOf);
  for (let page = 0; indices.length > 0; page += 1) {
    const size = Math.min(left, maxPage);
    const reply = await send({
      method: 'POST', path: indicesPath(indices, '_search'), signal: request.signal, timeoutMs,
      query: { allow_partial_search_results: false, cancel_after_time_interval: `${timeoutMs}ms` },
      body: { ...body, size, ...(after === undefined ? {} : { search_after: after }) },
    }, indices.join(','));
    if (reply.status >= 300) {
      const missing = unavailableIndex(faultOf(reply), indices);
      if (missing === undefined || page > 0) throw searchError(reply.status, faultOf(reply), indices);
      found.skipped.push(missing);
      indices = indices.filter((index) => index !== missing);
      page -= 1;
      continue;
    }
    const { hits } = reply.body as RawResult;
    if (page === 0) found.total += hits.total.value;
    found.hits.push(...hits.hits);
    left -= hits.hits.length;
    after = hits.hits.at(-1)?.sort;
    if (left === 0 || hits.hits.length < size) return;
  }
}

function unavailableIndex(fault: { type: string; index?: string | undefined }, indices: readonly string[]): string | undefined {
  if (fault.type !== 'index_not_found_exception' && fault.type !== 'index_closed_exception') return undefined;
  return indices.find((index) => index === fault.index);
}

function searchError(status: number, fault: ReturnType<typeof faultOf>, indices: readonly string[]): Error {
  if (status !== 400) return wholeError(status, fault, indices.join(','));
  return storeErrors.create('STORE_QUERY_INVALID', { got: `${fault.type}: ${fault.reason}`.slice(0, 500) });
}

function searchBody(request: SearchRequest, typeOf: TypeOf): Clause {
  const { from, to } = request;
  const times = from === undefined && to === undefined ? [] : [{
    range: { timestamp: { ...(from === undefined ? {} : { gte: from }), ...(to === undefined ? {} : { lt: to }), format: 'epoch_millis' } },
  }];
  const plain = request.fields?.every((field) => !field.includes('*')) === true;
  return {
    query: { bool: { filter: [compileQuery(request.query, typeOf), ...times], must_not: [{ exists: { field: stubField } }] } },
    sort: sortClauses(request, typeOf),
    track_total_hits: true,
    ...(plain ? { _source: request.fields } : {}),
  };
}

const unmappedTypes: Readonly<Record<FieldType, string>> = { text: 'keyword', string: 'keyword', number: 'double', boolean: 'keyword', time: 'date' };

function sortClauses(request: SearchRequest, typeOf: TypeOf): Clause[] {
  const { field, direction } = request.sort ?? { field: 'timestamp', direction: 'desc' };
  const byId = { [idField]: { order: direction } };
  if (field === '_id') return [byId];
  return [{ [field]: { order: direction, unmapped_type: unmappedTypes[typeOf(field) ?? 'string'] } }, byId];
}

function afterValues(request: SearchRequest, typeOf: TypeOf): (string | number)[] {
  const { sortValue, id } = request.after as NonNullable<SearchRequest['after']>;
  const field = request.sort?.field ?? 'timestamp';
  if (field === '_id') return [id];
  return [typeOf(field) === 'time' && typeof sortValue === 'string' ? Date.parse(sortValue) : sortValue, id];
}

/** The engine's order over the sort values of two hits: a missing value comes last, texts by code point. */
function compareHits(direction: 'asc' | 'desc'): (left: RawHit, right: RawHit) => number {
  const sign = direction === 'asc' ? 1 : -1;
  return (left, right) => {
    for (const [at, a] of left.sort.entries()) {
      const b = right.sort[at];
      if (a === b) continue;
      if (a === null || a === undefined) return 1;
      if (b === null || b === undefined) return -1;
      if (typeof a !== typeof b) return typeof a === 'number' ? -sign : sign;
      return sign * (typeof a === 'number' ? a - Number(b) : Buffer.compare(Buffer.from(a), Buffer.from(String(b))));
    }
    return 0;
  };
}

function toHit(hit: RawHit, wanted: ReadonlySet<string> | undefined): SearchHit {
  const fields = Object.entries(hit._source ?? {}).filter(([name]) => name !== idField && (wanted === undefined || wanted.has(name)));
  return { _id: hit._id, _index: hit._index, document: Object.fromEntries(fields) };
}
