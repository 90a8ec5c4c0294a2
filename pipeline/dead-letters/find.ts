/** Which dead letters an operator means, as a search over their index set. */
import { isIPv6 } from 'node:net';
import type { QueryNode, SearchRequest } from '../../schemas/query.js';
import type { IndexStore } from '../../sinks/stores/contract.js';
import { deadLetterSet } from '../../schemas/index-sets.js';
import type { ListedDeadLetter, Selection } from './contract.js';
import type { DeadLetter } from './state.js';

const term = (field: string, text: string): QueryNode => ({ kind: 'term', field, text });

export function deadLetterQuery(selection: Selection): QueryNode {
  const children: QueryNode[] = [];
  const { code, reason, receiver, peer, indexSet, state, query } = selection;
  if (code !== undefined) children.push(term('code', code));
  if (reason !== undefined) children.push({ kind: 'phrase', field: 'message', text: reason });
  if (receiver !== undefined) children.push(term('receiver', receiver));
  if (indexSet !== undefined) children.push(term('index_set', indexSet));
  if (peer !== undefined) {
    const address = isIPv6(peer) ? `[${peer}]` : peer;
    children.push({
      kind: 'or',
      children: [term('peer', address), { kind: 'wildcard', field: 'peer', pattern: `${address}:*` }],
    });
  }
  // Letters from before there were states have none.
  if (state === 'open')
    children.push({
      kind: 'not',
      child: { kind: 'or', children: [term('state', 'replayed'), term('state', 'dropped')] },
    });
  else if (state !== 'all') children.push(term('state', state));
  if (query.kind !== 'all') children.push(query);
  return children.length === 0 ? { kind: 'all' } : { kind: 'and', children };
}

export async function deadLetterIndices(store: IndexStore): Promise<string[]> {
  return (await store.indices.list(deadLetterSet)).filter(({ open }) => open).map(({ name }) => name);
}

/** The dead letters of these ids, wherever they stand. */
export async function deadLettersById(store: IndexStore, ids: readonly string[]): Promise<DeadLetter[]> {
  const found = new Map<string, DeadLetter>();
  for (const place of await deadLetterIndices(store)) {
    for (const [id, { document, revision }] of await store.documents.read(place, ids))
      if (!found.has(id)) found.set(id, { id, place, revision, document });
  }
  return ids.flatMap((id) => found.get(id) ?? []);
}

interface FoundDeadLetters {
  readonly total: number;
  /** Pages in the order of receive times; what changes meanwhile is not met twice. */
  pages(
    pageSize: number,
    limit: number,
    direction: 'asc' | 'desc',
    signal: AbortSignal,
  ): AsyncGenerator<readonly ListedDeadLetter[]>;
}

export async function findDeadLetters(store: IndexStore, selection: Selection): Promise<FoundDeadLetters> {
  if (selection.ids !== undefined) {
    const deadLetters = await deadLettersById(store, [...new Set(selection.ids)]);
    return {
      total: deadLetters.length,
      async *pages() {
        yield deadLetters;
      },
    };
  }
  const indices = await deadLetterIndices(store);
  await store.indices.refresh(indices);
  const { from, to } = selection;
  const request = { indices, query: deadLetterQuery(selection), from, to };
  const { total } = await store.queries.search({ ...request, limit: 0 });
  return {
    total,
    pages: (pageSize, limit, direction, signal) => pagesOf(store, request, { pageSize, limit, direction, signal }),
  };
}

interface PageOptions {
  readonly pageSize: number;
  readonly limit: number;
  readonly direction: 'asc' | 'desc';
  readonly signal: AbortSignal;
}

async function* pagesOf(
  store: IndexStore,
  request: Omit<SearchRequest, 'limit'>,
  { pageSize, limit, direction, signal }: PageOptions,
): AsyncGenerator<readonly ListedDeadLetter[]> {
  let after: SearchRequest['after'];
  for (let left = limit; left > 0 && !signal.aborted; ) {
    const size = Math.min(pageSize, left);
    const { hits } = await store.queries.search({
      ...request,
      limit: size,
      sort: { field: 'timestamp', direction },
      after,
    });
    if (hits.length === 0) return;
    yield hits.map(({ _id: id, _index: place, document }) => ({ id, place, document }));
    const last = hits.at(-1);
    if (last === undefined || hits.length < size) return;
    after = { sortValue: last.document['timestamp'] as string | number, id: last._id };
    left -= hits.length;
  }
}
