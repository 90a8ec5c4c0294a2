/**
 * One search request to several indices: those that are closed or gone are left out and named, and of failing shards
 * the rest answers where that is asked for.
 */
import { at } from '../../../../core/at.js';
import { faultOf, type OpenSearchFault } from '../../../../core/opensearch-client.js';
import type { IndexFailure, SearchRequest } from '../../../../schemas/query.js';
import { storeErrors } from '../../errors.js';
import { wholeError } from '../bulk.js';
import { tombstoneField } from '../mapping.js';
import { compileQuery, type Clause, type TypeOf } from './query.js';
import { indicesPath, type Send } from '../requests.js';

interface Answer {
  /** Undefined: no index is left. */
  readonly body: unknown;
  /** Those that were asked. */
  readonly indices: readonly string[];
  readonly skipped: readonly string[];
  readonly failures: readonly IndexFailure[];
}

/** A request whose time limit is decided. */
export type Timed<Request> = Request & { readonly timeoutMs: number };

type Asked = Timed<Pick<SearchRequest, 'signal' | 'partial'>>;

export async function askUntilAllAnswer(
  send: Send,
  request: Asked,
  indices: readonly string[],
  body: object,
): Promise<Answer> {
  const { timeoutMs } = request;
  const skipped: string[] = [];
  let left = indices;
  while (left.length > 0) {
    const reply = await send(
      {
        method: 'POST',
        path: indicesPath(left, '_search'),
        signal: request.signal,
        timeoutMs,
        query: { allow_partial_search_results: request.partial === true, cancel_after_time_interval: `${timeoutMs}ms` },
        body,
      },
      left.join(','),
    );
    if (reply.status < 300)
      return { body: reply.body, indices: left, skipped, failures: shardFailures(reply.body, left) };
    const missing = unavailableIndex(faultOf(reply), left);
    if (missing === undefined) throw searchError(reply.status, faultOf(reply), left);
    skipped.push(missing);
    left = left.filter((index) => index !== missing);
  }
  return { body: undefined, indices: [], skipped, failures: [] };
}

interface ShardFailures {
  readonly timed_out?: boolean;
  readonly _shards?: {
    readonly failures?: readonly {
      readonly index?: string;
      readonly reason?: { readonly type?: string; readonly reason?: string };
    }[];
  };
}

function shardFailures(body: unknown, indices: readonly string[]): IndexFailure[] {
  const { _shards: shards, timed_out: late } = body as ShardFailures;
  const found = new Map(
    (shards?.failures ?? []).map(({ index, reason }) => [
      index ?? indices.join(','),
      `${reason?.type ?? 'failed'}: ${reason?.reason ?? ''}`.slice(0, 300),
    ]),
  );
  if (late === true) found.set(indices.join(','), 'no whole answer in time');
  return [...found].map(([index, reason]) => ({ index, reason }));
}

function unavailableIndex(
  fault: { type: string; index?: string | undefined },
  indices: readonly string[],
): string | undefined {
  if (fault.type !== 'index_not_found_exception' && fault.type !== 'index_closed_exception') return undefined;
  return indices.find((index) => index === fault.index);
}

export function searchError(status: number, fault: OpenSearchFault, indices: readonly string[]): Error {
  if (status !== 400) return wholeError(status, fault, indices.join(','));
  return storeErrors.create('STORE_QUERY_INVALID', { got: `${fault.type}: ${fault.reason}`.slice(0, 500) });
}

/**
 * The condition of a search: its query and range of time, tombstones left out. These have no time, so a range leaves
 * them out by itself, and alone it is a question that the engine answers from its index of times without a look at the
 * documents.
 */
export function queryClause(
  request: Pick<SearchRequest, 'query' | 'from' | 'to'>,
  typeOf: TypeOf,
  more: readonly Clause[] = [],
): Clause {
  const { from, to, query } = request;
  const times =
    from === undefined && to === undefined
      ? []
      : [
          {
            range: {
              timestamp: {
                ...(from === undefined ? {} : { gte: from }),
                ...(to === undefined ? {} : { lt: to }),
                format: 'epoch_millis',
              },
            },
          },
        ];
  const filter: readonly Clause[] = [...(query.kind === 'all' ? [] : [compileQuery(query, typeOf)]), ...times, ...more];
  if (times.length > 0) return filter.length === 1 ? at(filter, 0) : { bool: { filter } };
  return { bool: { filter, must_not: [{ exists: { field: tombstoneField } }] } };
}
