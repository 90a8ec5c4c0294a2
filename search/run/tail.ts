/**
 * New messages as they become searchable, oldest first. The order differs from that of receiving. So each look goes
 * back over a stretch of receive times, and ids of that stretch are remembered: nothing is shown twice.
 */
import { pause } from '../../core/wait.js';
import type { QueryNode, SearchAfter, SearchHit } from '../../schemas/query.js';
import { PageSize } from '../../core/page-size.js';
import type { SearchQuestion, TailOptions } from '../contract.js';
import { planSearch } from '../plan/plan.js';
import { countEnd, takeTurn } from './turn.js';
import { withoutHiddenStreams } from '../plan/scope.js';
import type { SearchContext } from './context.js';
import { and } from '../language/tree.js';

/** A message that becomes searchable later than this after it was received is left out. */
const overlapMs = 15_000;
/** Ids remembered; with more of them in the stretch it is cut short. */
const maxRemembered = 100_000;
/** Messages of one look; the rest comes with the next. */
const maxLook = 100_000;
/** A reader that takes longer over what it gets is asked whether it falls behind. */
const slowMs = 1_000;
/** Messages that a slow reader may be behind. */
const maxBehind = 10_000;
const oldestFirst = { field: 'receive_time', direction: 'asc' } as const;

class Window {
  readonly #seen = new Map<string, number>();
  #newest: number;
  #from: number;

  constructor(now: number) {
    this.#newest = now;
    this.#from = now - overlapMs;
  }

  /** Receive time of the newest message that was shown. */
  get newest(): number {
    return this.#newest;
  }

  /** Messages of this receive time that were shown. */
  seenAt(received: number): number {
    let count = 0;
    for (const time of this.#seen.values()) if (time === received) count += 1;
    return count;
  }

  /** Nothing from before is shown any more. */
  skipTo(now: number): void {
    this.#newest = now;
    this.#from = now;
    this.#seen.clear();
  }

  /** Receive time from which on messages are looked for. */
  get from(): number {
    return this.#from;
  }

  /** False: it was there before. */
  add(hit: SearchHit, received: number): boolean {
    if (this.#seen.has(hit._id)) return false;
    this.#seen.set(hit._id, received);
    this.#newest = Math.max(this.#newest, received);
    return true;
  }

  /** Moves the stretch on, and forgets ids before it. */
  advance(now: number): void {
    this.#from = Math.max(this.#from, Math.min(this.#newest, now) - overlapMs);
    for (const [id, received] of this.#seen) if (received < this.#from) this.#seen.delete(id);
    if (this.#seen.size <= maxRemembered) return;
    const times = [...this.#seen.values()].sort((a, b) => a - b);
    this.#from = (times[times.length - Math.floor(maxRemembered / 2)] ?? this.#from) + 1;
    for (const [id, received] of this.#seen) if (received < this.#from) this.#seen.delete(id);
  }
}

interface Following {
  readonly context: SearchContext;
  readonly request: SearchQuestion;
  readonly options: TailOptions;
  readonly window: Window;
}

export async function* tail(
  context: SearchContext,
  request: SearchQuestion,
  options: TailOptions,
): AsyncGenerator<readonly SearchHit[]> {
  const window = new Window(context.now());
  const following = { context, request, options, window };
  let cause: unknown;
  try {
    // What is there already is not new.
    for await (const hits of newHits(following, [])) void hits;
    yield [];
    for (let isSlow = false; !isAborted(options.signal); ) {
      await pause(context.settings.tail_poll_ms, options.signal);
      if (isAborted(options.signal)) return;
      if (isSlow) await catchUp(following);
      isSlow = false;
      for await (const hits of newHits(following, undefined)) {
        if (hits.length === 0) continue;
        const given = performance.now();
        yield hits.map((hit) => withoutHiddenStreams(hit, options.scope));
        isSlow = performance.now() - given > slowMs;
        if (isSlow && options.onSkipped !== undefined) break;
      }
      window.advance(context.now());
    }
  } catch (thrown) {
    if (isAborted(options.signal)) return;
    cause = thrown;
    throw thrown;
  } finally {
    countEnd(context, 'tail', cause);
  }
}

/** Leaves out messages when a slow reader is too far behind. */
async function catchUp({ context, request, options, window }: Following): Promise<void> {
  if (options.onSkipped === undefined) return;
  const now = context.now();
  const missed: QueryNode = {
    kind: 'range',
    field: 'receive_time',
    from: { value: window.newest, inclusive: true },
    to: { value: now, inclusive: false },
  };
  const { total } = await takeTurn(context, options, async (turn) => {
    const plan = await planSearch(context, request, options.scope);
    return context.store.queries.search({
      ...plan,
      ...turn,
      query: and([missed, plan.query]),
      limit: 0,
      partial: true,
    });
  });
  const behind = total - window.seenAt(window.newest);
  if (behind <= maxBehind) return;
  window.skipTo(now);
  options.onSkipped(behind);
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

async function* newHits(
  { context, request, options, window }: Following,
  fields: readonly string[] | undefined,
): AsyncGenerator<SearchHit[]> {
  const { from } = window;
  const since: QueryNode = {
    kind: 'range',
    field: 'receive_time',
    from: { value: from, inclusive: true },
    to: undefined,
  };
  const page = new PageSize();
  let after: SearchAfter | undefined;
  for (let left = maxLook; left > 0; ) {
    const limit = Math.min(left, page.size);
    const { hits, next } = await takeTurn(context, options, async (turn) => {
      const plan = await planSearch(context, request, options.scope);
      const wanted = fields === undefined ? undefined : [...fields, 'receive_time'];
      return context.store.queries.search({
        ...plan,
        ...turn,
        query: and([since, plan.query]),
        sort: oldestFirst,
        limit,
        after,
        fields: wanted,
        partial: true,
      });
    });
    page.learn(hits.map(({ document }) => document));
    yield hits.filter((hit) => window.add(hit, Date.parse(String(hit.document['receive_time']))));
    if (hits.length < limit || next === undefined) return;
    left -= hits.length;
    after = next;
  }
}
