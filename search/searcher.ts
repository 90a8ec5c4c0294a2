/** Every search of stored messages goes through here: it gets its scope, its turn and its deadline. */
import { buildMetrics, type Registry } from '../core/metrics.js';
import { noteTraffic } from '../core/process/young-generation.js';
import type { SearchSettings } from '../schemas/config/search.js';
import type { SearchAfter } from '../schemas/query.js';
import { checkAggregate } from './plan/aggregate-check.js';
import type {
  AggregateAnswer,
  AggregateQuestion,
  MessagesAnswer,
  MessagesRequest,
  Searcher,
  SearchOptions,
} from './contract.js';
import { newestFirst, readCursor, writeCursor } from './plan/cursor.js';
import { searchErrors } from './errors.js';
import { createKnownFields } from './run/known-fields.js';
import { addLatest, withoutLatest } from './run/latest.js';
import { searchMetrics } from './metrics.js';
import { checkSort, mayHold, planSearch, type Plan } from './plan/plan.js';
import { createFairQueue } from './run/fair-queue.js';
import { rows } from './run/rows.js';
import { runSearch, type Turn } from './run/turn.js';
import type { SearchContext } from './run/context.js';
import { isVisible, withoutHiddenStreams } from './plan/scope.js';
import type { SearchableStore } from './store.js';
import { tail } from './run/tail.js';

export interface SearcherOptions {
  readonly store: SearchableStore;
  /** Ids of every index set that exists now; the one of dead letters may be among them. */
  readonly indexSets: () => readonly string[];
  /** Ids of every stream that exists now: queries may name them as the API shows them. Default: none. */
  readonly streams?: (() => readonly string[]) | undefined;
  readonly deadLetterSet: string;
  readonly settings: SearchSettings;
  readonly registry: Registry;
  /** Default: the clock. */
  readonly now?: (() => number) | undefined;
}

/** Messages of one answer; more come page by page. */
const maxLimit = 10_000;
/** Skipped messages are read all the same, page by page. */
const maxOffset = 1_000_000;

export function createSearcher(options: SearcherOptions): Searcher {
  const { settings } = options;
  const context: SearchContext = {
    ...options,
    now: options.now ?? Date.now,
    metrics: buildMetrics(options.registry, searchMetrics),
    queue: createFairQueue(settings.concurrent, settings.queue_length),
  };
  const fields = createKnownFields(context);
  return {
    messages: (request, searchOptions) => messages(context, request, searchOptions),
    aggregate: (request, searchOptions) => aggregate(context, request, searchOptions),
    rows: (request, searchOptions) => rows(context, request, searchOptions),
    tail: (request, searchOptions) => tail(context, request, searchOptions),
    async message(index, id, scope) {
      if (!mayHold(context, index, scope)) return undefined;
      const found = (await context.store.documents.read(index, [id]).catch(whenMissing))?.get(id);
      if (found === undefined || found.tombstone || !isVisible(found.document, scope)) return undefined;
      return withoutHiddenStreams({ _id: id, _index: index, document: found.document }, scope);
    },
    fields,
  };
}

/** An index that is closed or gone holds nothing that could be shown. */
function whenMissing(thrown: unknown): undefined {
  const code = (thrown as { code?: unknown }).code;
  if (code !== 'STORE_INDEX_MISSING' && code !== 'STORE_INDEX_CLOSED') throw thrown;
  return undefined;
}

async function messages(
  context: SearchContext,
  request: MessagesRequest,
  options: SearchOptions,
): Promise<MessagesAnswer> {
  const started = performance.now();
  const sort = request.sort ?? newestFirst;
  checkSort(sort);
  checkPage(request);
  const after = request.after === undefined ? undefined : readCursor(request.after, sort);
  return runSearch(context, 'messages', options, async (turn) => {
    const plan = await planSearch(context, request, options.scope);
    const start = await skip(context, { ...plan, sort }, { offset: request.offset ?? 0, after }, turn);
    const result = await context.store.queries.search({
      ...plan,
      ...turn,
      sort,
      limit: start === 'nothing' ? 0 : request.limit,
      count: request.count,
      fields: request.fields,
      after: start === 'nothing' ? undefined : start,
      partial: true,
    });
    noteTraffic(result.hits.length);
    const full = request.limit > 0 && result.hits.length === request.limit;
    return {
      total: result.total,
      messages: result.hits.map((hit) => withoutHiddenStreams(hit, options.scope)),
      ...(full && result.next !== undefined ? { next: writeCursor(result.next, sort) } : {}),
      failures: failuresOf(result),
      tookMs: Math.round(performance.now() - started),
    };
  });
}

function checkPage({ limit, offset = 0 }: MessagesRequest): void {
  if (!Number.isSafeInteger(limit) || limit < 0 || limit > maxLimit)
    throw searchErrors.create('SEARCH_LIMIT', {
      place: 'limit',
      got: String(limit),
      allowed: `0 to ${maxLimit}; more page by page with an offset, or with an export`,
    });
  if (!Number.isSafeInteger(offset) || offset < 0 || offset > maxOffset)
    throw searchErrors.create('SEARCH_LIMIT', {
      place: 'offset',
      got: String(offset),
      allowed: `0 to ${maxOffset}; further with a shorter time range, or with an export`,
    });
}

/** The position of the last message that is skipped; `nothing` when no message is left behind it. */
async function skip(
  context: SearchContext,
  plan: Plan & { readonly sort: NonNullable<MessagesRequest['sort']> },
  { offset, after }: { readonly offset: number; readonly after: SearchAfter | undefined },
  turn: Turn,
): Promise<SearchAfter | undefined | 'nothing'> {
  let position = after;
  for (let left = offset; left > 0; ) {
    const limit = Math.min(left, maxLimit);
    const { hits, next } = await context.store.queries.search({
      ...plan,
      ...turn,
      limit,
      count: false,
      fields: [],
      after: position,
      partial: true,
    });
    if (hits.length < limit || next === undefined) return 'nothing';
    left -= limit;
    position = next;
  }
  return position;
}

function failuresOf(result: {
  readonly skipped: readonly string[];
  readonly failures?: MessagesAnswer['failures'] | undefined;
}): MessagesAnswer['failures'] {
  return [
    ...result.skipped.map((index) => ({ index, reason: 'it is closed, gone or cannot be read' })),
    ...(result.failures ?? []),
  ];
}

async function aggregate(
  context: SearchContext,
  question: AggregateQuestion,
  options: SearchOptions,
): Promise<AggregateAnswer> {
  const started = performance.now();
  const asked = checkAggregate(question.aggregate, options.scope);
  return runSearch(context, 'aggregate', options, async (turn) => {
    const plan = await planSearch(context, question, options.scope);
    const result = await context.store.queries.aggregate({ ...withoutLatest(asked), ...plan, ...turn, partial: true });
    const buckets = await addLatest({ context, plan, turn }, asked, result.buckets);
    const [whole] =
      result.whole === undefined
        ? []
        : await addLatest({ context, plan, turn }, { ...asked, groups: [] }, [result.whole]);
    return {
      ...result,
      buckets,
      ...(whole === undefined ? {} : { whole }),
      failures: failuresOf(result),
      tookMs: Math.round(performance.now() - started),
    };
  });
}
