/** One piece of work on the store: in its turn, within its deadline, cancelled by its signal, counted. */
import { isSluiceError } from '../../core/errors.js';
import type { BuiltMetrics } from '../../core/metrics.js';
import type { SearchSettings } from '../../schemas/config/search.js';
import type { SearchOptions } from '../contract.js';
import { searchErrors } from '../errors.js';
import type { searchMetrics } from '../metrics.js';
import type { FairQueue } from './fair-queue.js';

type SearchKind = 'messages' | 'aggregate' | 'rows' | 'tail' | 'fields';

export interface RunContext {
  readonly queue: FairQueue;
  readonly settings: SearchSettings;
  readonly metrics: BuiltMetrics<typeof searchMetrics>;
}

/** What the work may use: the signal ends it, and its store gives up by itself after `timeoutMs`. */
export interface Turn {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A whole search of one turn, with its time and outcome in the metrics. */
export async function runSearch<Answer>(
  context: RunContext,
  kind: SearchKind,
  options: Omit<SearchOptions, 'scope'>,
  work: (turn: Turn) => Promise<Answer>,
): Promise<Answer> {
  const observe = context.metrics.searchDuration.startTimer({ kind });
  try {
    const answer = await takeTurn(context, options, work);
    context.metrics.searches.inc({ kind, outcome: isPart(answer) ? 'part' : 'ok' });
    return answer;
  } catch (thrown) {
    countEnd(context, kind, thrown);
    throw thrown;
  } finally {
    observe();
  }
}

/** Counts a search that has ended; without a cause it ended well. */
export function countEnd({ metrics }: RunContext, kind: SearchKind, cause: unknown): void {
  metrics.searches.inc({
    kind,
    outcome: cause === undefined ? 'ok' : (outcomes[isSluiceError(cause) ? cause.code : ''] ?? 'failed'),
  });
}

export async function takeTurn<Answer>(
  context: RunContext,
  options: Omit<SearchOptions, 'scope'>,
  work: (turn: Turn) => Promise<Answer>,
): Promise<Answer> {
  const { settings } = context;
  const deadlineMs = Math.min(options.deadlineMs ?? settings.deadline_ms, settings.deadline_ms);
  const ending = new AbortController();
  let late = false;
  const giveUp = (): void => {
    late = true;
    ending.abort(
      searchErrors.create('SEARCH_DEADLINE_EXCEEDED', {
        got: `${deadlineMs} ms`,
        allowed: 'at most the setting search.deadline_ms',
      }),
    );
  };
  const timer = setTimeout(giveUp, deadlineMs);
  const cancel = (): void => ending.abort(options.signal?.reason);
  if (options.signal?.aborted === true) cancel();
  else options.signal?.addEventListener('abort', cancel, { once: true });
  const { signal } = ending;
  try {
    return await inTurn(context, options.fairnessKey ?? '', signal, () =>
      work({ signal, timeoutMs: deadlineMs + storeGraceMs }),
    );
  } catch (thrown) {
    throw late ? signal.reason : errorOf(thrown, signal.aborted);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', cancel);
  }
}

/** The signal comes first; this is for a store whose connection hangs. */
const storeGraceMs = 1_000;

const outcomes: Readonly<Record<string, string>> = {
  SEARCH_CANCELLED: 'cancelled',
  SEARCH_DEADLINE_EXCEEDED: 'late',
  SEARCH_QUEUE_FULL: 'refused',
  SEARCH_QUERY_INVALID: 'refused',
};

function isPart(answer: unknown): boolean {
  return (
    typeof answer === 'object' &&
    answer !== null &&
    'failures' in answer &&
    Array.isArray(answer.failures) &&
    answer.failures.length > 0
  );
}

async function inTurn<Answer>(
  { queue, metrics }: RunContext,
  key: string,
  signal: AbortSignal,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const show = (): void => {
    metrics.queuedSearches.set(queue.waiting());
    metrics.runningSearches.set(queue.running());
  };
  const entering = queue.enter(key, signal);
  show();
  const leave = await entering.finally(show);
  show();
  const working = work().finally(() => {
    leave();
    show();
  });
  return orAborted(working, signal);
}

/** The caller does not wait for a store that is slow to stop. The turn ends only when the store has stopped. */
function orAborted<Answer>(working: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    working.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** What ended a search: the caller, or the store's own error in the words of this layer. */
function errorOf(thrown: unknown, cancelled: boolean): unknown {
  if (cancelled) return searchErrors.create('SEARCH_CANCELLED', { cause: thrown });
  if (!isSluiceError(thrown) || thrown.code !== 'STORE_QUERY_INVALID') return thrown;
  return searchErrors.create('SEARCH_QUERY_INVALID', {
    place: thrown.place,
    got: thrown.got,
    allowed: thrown.allowed,
    cause: thrown,
  });
}
