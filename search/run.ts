/** One piece of work on the store: in its turn, within its deadline, cancelled by its signal, counted. */
import { isSluiceError } from '../core/errors.js';
import type { BuiltMetrics } from '../core/metrics.js';
import type { SearchSettings } from '../schemas/config/search.js';
import type { SearchOptions } from './contract.js';
import { searchErrors } from './errors.js';
import type { searchMetrics } from './metrics.js';
import type { FairQueue } from './queue.js';

export type SearchKind = 'messages' | 'aggregate' | 'rows' | 'tail' | 'fields';

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

export async function runSearch<Answer>(context: RunContext, kind: SearchKind, options: Omit<SearchOptions, 'scope'>, work: (turn: Turn) => Promise<Answer>): Promise<Answer> {
  const { metrics, settings } = context;
  const deadlineMs = Math.min(options.deadlineMs ?? settings.deadline_ms, settings.deadline_ms);
  const deadline = new AbortController();
  const late = (): void => deadline.abort(searchErrors.create('SEARCH_DEADLINE_EXCEEDED', { got: `${deadlineMs} ms`, allowed: 'at most the setting search.deadline_ms' }));
  const timer = setTimeout(late, deadlineMs);
  const signal = options.signal === undefined ? deadline.signal : AbortSignal.any([options.signal, deadline.signal]);
  const observe = metrics.searchDuration.startTimer({ kind });
  try {
    const answer = await inTurn(context, options.fairnessKey ?? '', signal, () => work({ signal, timeoutMs: deadlineMs + storeGraceMs }));
    metrics.searches.inc({ kind, outcome: isPart(answer) ? 'part' : 'ok' });
    return answer;
  } catch (thrown) {
    const error = errorOf(thrown, options.signal, deadline.signal);
    metrics.searches.inc({ kind, outcome: outcomes[isSluiceError(error) ? error.code : ''] ?? 'failed' });
    throw error;
  } finally {
    clearTimeout(timer);
    observe();
  }
}

/** The signal comes first; this is for a store whose connection hangs. */
const storeGraceMs = 1_000;

const outcomes: Readonly<Record<string, string>> = { SEARCH_CANCELLED: 'cancelled', SEARCH_DEADLINE_EXCEEDED: 'late', SEARCH_QUEUE_FULL: 'refused', SEARCH_QUERY_INVALID: 'refused' };

function isPart(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'failures' in answer && Array.isArray(answer.failures) && answer.failures.length > 0;
}

async function inTurn<Answer>({ queue, metrics }: RunContext, key: string, signal: AbortSignal, work: () => Promise<Answer>): Promise<Answer> {
  const show = (): void => {
    metrics.queuedSearches.set(queue.waiting());
    metrics.runningSearches.set(queue.running());
  };
  const entering = queue.enter(key, signal);
  show();
  const leave = await entering.finally(show);
  show();
  try {
    return await work();
  } finally {
    leave();
    show();
  }
}

/** What ended a search: the caller, the clock, or the store's own error in the words of this layer. */
function errorOf(thrown: unknown, caller: AbortSignal | undefined, deadline: AbortSignal): unknown {
  if (deadline.aborted && caller?.aborted !== true) return deadline.reason;
  if (caller?.aborted === true) return searchErrors.create('SEARCH_CANCELLED', { cause: thrown });
  if (!isSluiceError(thrown) || thrown.code !== 'STORE_QUERY_INVALID') return thrown;
  return searchErrors.create('SEARCH_QUERY_INVALID', { place: thrown.place, got: thrown.got, allowed: thrown.allowed, cause: thrown });
}
