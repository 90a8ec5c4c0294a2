/**
 * The one retry of the program, with exponential back-off.
 * Not p-retry: from version 8 it needs Node 22, and version 7 drops the result of an attempt that ends after an abort
 * and never repeats a TypeError.
 */
import { errorText, isSluiceError } from '../errors.js';
import type { Log } from '../log.js';
import { pause } from '../wait.js';
import { retryEvents } from './events.js';

/** Delays that double from the first to the longest, each with up to a quarter of jitter. Made anew after a success. */
export function createBackOff(firstMs: number, longestMs: number): () => number {
  let next = firstMs;
  return () => {
    const delay = next * (1 + Math.random() / 4);
    next = Math.min(next * 2, longestMs);
    return delay;
  };
}

interface RetryOptions {
  /** The delay before the first repetition. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** Ends a delay at once. The attempt after it is the last. */
  readonly signal?: AbortSignal | undefined;
  /** A failure after this time is final. Without it, attempts go on for ever. */
  readonly withinMs?: number;
  /** May throw another error instead. The default repeats the declared errors that are retryable. */
  readonly shouldRetry?: (thrown: unknown) => boolean;
  /** Before the delay. */
  readonly onRetry?: (thrown: unknown) => void;
}

/** Repeats an attempt that failed; rejects with the error of the last one. */
export async function retry<Result>(attempt: () => Promise<Result>, options: RetryOptions): Promise<Result> {
  const { signal, withinMs = Infinity, shouldRetry = isRetryable, onRetry } = options;
  const until = performance.now() + withinMs;
  const backOff = createBackOff(options.firstMs, options.longestMs);
  for (;;) {
    try {
      return await attempt();
    } catch (thrown) {
      if (!shouldRetry(thrown) || signal?.aborted === true || performance.now() > until) throw thrown;
      onRetry?.(thrown);
      await pause(backOff(), signal);
    }
  }
}

function isRetryable(thrown: unknown): boolean {
  return isSluiceError(thrown) && thrown.retryable;
}

/** As long as the topic log waits for its brokers. */
const startMs = 60_000;

interface StartRetryOptions {
  /** For the log: what cannot be done yet. */
  readonly what: string;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * For what may fail while engines and other processes start beside us: an index that somebody else is just creating, a
 * cluster that elects.
 */
export function retryWhileStarting<Result>(
  attempt: () => Promise<Result>,
  { what, log, signal }: StartRetryOptions,
): Promise<Result> {
  return retry(attempt, {
    firstMs: 200,
    longestMs: 2_000,
    signal,
    withinMs: startMs,
    onRetry: (thrown) => retryEvents.attemptRepeated(log, { error: errorText(thrown) }, what),
  });
}
