/**
 * New messages as they become searchable, oldest first. They do so in another order than they were received: each look goes back over a
 * stretch of receive times, and what was shown is remembered for just that stretch, so that nothing comes twice.
 */
import { pause } from '../core/wait.js';
import type { QueryNode, SearchAfter, SearchHit } from '../schemas/query.js';
import type { SearchOptions, SearchQuestion } from './contract.js';
import { planSearch } from './plan.js';
import { countEnd, takeTurn } from './run.js';
import { withoutHiddenStreams } from './scope.js';
import type { SearchContext } from './search-context.js';
import { and } from './tree.js';

/** A message that becomes searchable later than this after it was received is left out. */
const overlapMs = 15_000;
/** Ids remembered; with more of them in the stretch it is cut short. */
const maxRemembered = 100_000;
const pageSize = 5_000;
/** Pages of one look; the rest comes with the next. */
const maxPages = 20;
const oldestFirst = { field: 'receive_time', direction: 'asc' } as const;

class Window {
  readonly #seen = new Map<string, number>();
  #newest: number;
  #from: number;

  constructor(now: number) {
    this.#newest = now;
    this.#from = now - overlapMs;
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

  /** Forgets what lies before the stretch. */
  advance(now: number): void {
    this.#from = Math.max(this.#from, Math.min(this.#newest, now) - overlapMs);
    for (const [id, received] of this.#seen) if (received < this.#from) this.#seen.delete(id);
    if (this.#seen.size <= maxRemembered) return;
    const times = [...this.#seen.values()].sort((a, b) => a - b);
    this.#from = (times[times.length - Math.floor(maxRemembered / 2)] ?? this.#from) + 1;
    for (const [id, received] of this.#seen) if (received < this.#from) this.#seen.delete(id);
  }
}

export async function* tail(context: SearchContext, request: SearchQuestion, options: SearchOptions): AsyncGenerator<readonly SearchHit[]> {
  const window = new Window(context.now());
  let cause: unknown;
  try {
    // What is there already is not new.
    for await (const hits of newHits(context, request, options, window, [])) void hits;
    yield [];
    while (!isAborted(options.signal)) {
      await pause(context.settings.tail_poll_ms, options.signal);
      if (isAborted(options.signal)) return;
      for await (const hits of newHits(context, request, options, window, undefined)) if (hits.length > 0) yield hits.map((hit) => withoutHiddenStreams(hit, options.scope));
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

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

async function* newHits(context: SearchContext, request: SearchQuestion, options: SearchOptions, window: Window, fields: readonly string[] | undefined): AsyncGenerator<SearchHit[]> {
  const { from } = window;
  const since: QueryNode = { kind: 'range', field: 'receive_time', from: { value: from, inclusive: true }, to: undefined };
  let after: SearchAfter | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const { hits, next } = await takeTurn(context, options, async (turn) => {
      const plan = await planSearch(context, request, options.scope);
      const wanted = fields === undefined ? undefined : [...fields, 'receive_time'];
      return context.store.search({ ...plan, ...turn, query: and([since, plan.query]), sort: oldestFirst, limit: pageSize, after, fields: wanted, partial: true });
    });
    yield hits.filter((hit) => window.add(hit, Date.parse(String(hit.document['receive_time']))));
    if (hits.length < pageSize || next === undefined) return;
    after = next;
  }
}
