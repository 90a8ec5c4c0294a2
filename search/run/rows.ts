/**
 * All rows of a question, of one snapshot, batch by batch. Each batch takes a turn of its own, so that an export delays
 * no searches.
 */
import { isSluiceError } from '../../core/errors.js';
import { noteTraffic } from '../../core/process/young-generation.js';
import type { SearchHit } from '../../schemas/query.js';
import type { MessagesRequest, SearchOptions, SearchQuestion } from '../contract.js';
import { newestFirst } from '../plan/cursor.js';
import { searchErrors } from '../errors.js';
import { checkSort, planSearch } from '../plan/plan.js';
import { countEnd, takeTurn, type Turn } from './turn.js';
import { withoutHiddenStreams } from '../plan/scope.js';
import type { SearchContext } from './context.js';

type RowsRequest = SearchQuestion & Pick<MessagesRequest, 'sort' | 'fields'> & { readonly limit?: number | undefined };

export async function* rows(
  context: SearchContext,
  request: RowsRequest,
  options: SearchOptions,
): AsyncGenerator<readonly SearchHit[]> {
  const sort = request.sort ?? newestFirst;
  checkSort(sort);
  // The scan outlives a turn: its signal follows that of the turn at work.
  const scanning = new AbortController();
  let iterator: AsyncIterator<readonly SearchHit[]> | undefined;
  let left = request.limit ?? Infinity;
  const next = async (turn: Turn): Promise<readonly SearchHit[] | undefined> => {
    const stop = (): void => scanning.abort(turn.signal.reason);
    turn.signal.addEventListener('abort', stop, { once: true });
    try {
      if (iterator === undefined) {
        const plan = await planSearch(context, request, options.scope);
        iterator = context.store.queries
          .scan({ ...plan, sort, fields: request.fields, signal: scanning.signal, timeoutMs: turn.timeoutMs })
          [Symbol.asyncIterator]();
      }
      const result = await iterator.next();
      return result.done === true ? undefined : result.value;
    } finally {
      turn.signal.removeEventListener('abort', stop);
    }
  };
  try {
    while (left > 0) {
      const batch = await takeTurn(context, options, next);
      if (batch === undefined) break;
      const wanted = batch.length > left ? batch.slice(0, left) : batch;
      left -= wanted.length;
      noteTraffic(wanted.length);
      yield wanted.map((hit) => withoutHiddenStreams(hit, options.scope));
    }
    countEnd(context, 'rows', undefined);
  } catch (thrown) {
    const error = lostIndex(thrown);
    countEnd(context, 'rows', error);
    throw error;
  } finally {
    // A store that is slow to stop releases its snapshot later.
    iterator?.return?.().catch(() => undefined);
  }
}

function lostIndex(thrown: unknown): unknown {
  const lost = isSluiceError(thrown) && (thrown.code === 'STORE_INDEX_MISSING' || thrown.code === 'STORE_INDEX_CLOSED');
  return lost ? searchErrors.create('SEARCH_SNAPSHOT_LOST', { place: thrown.place, cause: thrown }) : thrown;
}
