/**
 * Every document of a query in order, of those that are searchable when the scan begins: points in time, one for each
 * group of indices, joined.
 */
import { faultOf } from '../../../../core/opensearch-client.js';
import type { ScanRequest, SearchAfter, SearchHit } from '../../../../schemas/query.js';
import { PageSize } from '../../../../core/page-size.js';
import { mergeOrdered, type NextPage } from '../../merge.js';
import { comparePositions } from '../../sort-order.js';
import { queryClause, searchError, type Timed } from './ask.js';
import { indicesPath, sendExpecting, type Send } from '../requests.js';
import { groupTypes, searchGroups, sourceClause, toHit } from './search.js';
import { defaultSort, pageClauses, placeOf, type RawHit } from './sort.js';
import type { TypeGroup } from './type-groups.js';

/** How long the engine keeps a snapshot between two pages: a reader may be slow. */
const keepAlive = '5m';

interface PlacedHit {
  readonly hit: RawHit;
  readonly place: SearchAfter;
}

export async function* scanHits(
  send: Send,
  request: ScanRequest,
  defaultTimeoutMs: number,
): AsyncGenerator<readonly SearchHit[]> {
  const sort = request.sort ?? defaultSort;
  const groups = await searchGroups(send, request);
  const points: string[] = [];
  const pageSize = new PageSize();
  try {
    const timed = { ...request, timeoutMs: request.timeoutMs ?? defaultTimeoutMs };
    const sources: NextPage<PlacedHit>[] = [];
    for (const group of groups) {
      const point = await openPoint(send, group.indices, request);
      points.push(point);
      sources.push(pagesOf(send, timed, group, { point, pageSize }));
    }
    const byPlace = comparePositions(sort.direction);
    const wanted = request.fields === undefined ? undefined : new Set(request.fields);
    for await (const batch of mergeOrdered(
      sources,
      (left, right) => byPlace(left.place, right.place),
      () => pageSize.size,
    ))
      yield batch.map(({ hit }) => toHit(hit, wanted));
  } finally {
    if (points.length > 0)
      await send({ method: 'DELETE', path: '/_search/point_in_time', body: { pit_id: points } }, 'point in time').catch(
        () => undefined,
      );
  }
}

async function openPoint(send: Send, indices: readonly string[], { signal }: ScanRequest): Promise<string> {
  const query = { keep_alive: keepAlive, allow_partial_pit_creation: false };
  const reply = await sendExpecting(
    send,
    { method: 'POST', path: indicesPath(indices, '_search/point_in_time'), query, signal },
    indices.join(','),
  );
  return (reply.body as { readonly pit_id: string }).pit_id;
}

function pagesOf(
  send: Send,
  request: Timed<ScanRequest>,
  group: TypeGroup,
  { point, pageSize }: { readonly point: string; readonly pageSize: PageSize },
): NextPage<PlacedHit> {
  const typeOf = groupTypes(group);
  const sort = request.sort ?? defaultSort;
  const { timeoutMs } = request;
  const common = {
    query: queryClause(request, typeOf),
    track_total_hits: false,
    ...sourceClause(request.fields),
    pit: { id: point, keep_alive: keepAlive },
  };
  let after: SearchAfter | undefined;
  let ended = false;
  return async () => {
    if (ended) return undefined;
    const { size } = pageSize;
    const query = { allow_partial_search_results: false, cancel_after_time_interval: `${timeoutMs}ms` };
    const reply = await send(
      {
        method: 'POST',
        path: '/_search',
        signal: request.signal,
        timeoutMs,
        query,
        body: { ...common, ...pageClauses(sort, after, typeOf), size },
      },
      'point in time',
    );
    if (reply.status >= 300) throw searchError(reply.status, faultOf(reply), group.indices);
    const hits = (reply.body as { readonly hits: { readonly hits: readonly RawHit[] } }).hits.hits.map((hit) => ({
      hit,
      place: placeOf(hit, sort, typeOf),
    }));
    pageSize.learn(hits.map(({ hit }) => hit._source ?? {}));
    after = hits.at(-1)?.place;
    ended = hits.length < size;
    return hits;
  };
}
