/** Runs a search: every search type of every query, each with its result or its error. */
import { randomUUID } from 'node:crypto';
import { errorText, isForAsker, isSluiceError } from '../../../core/errors.js';
import { ownMember } from '../../../core/own-member.js';
import type {
  ExecuteBody,
  QueryOfSearchBody,
  SearchBody,
  SearchTypeBody,
  TypeOverride,
} from '../../../schemas/api-search.js';
import { failure } from '../failure.js';
import { messageList } from './message-lists.js';
import { pivot } from './pivots.js';
import { askedBy, type AskedType, type Context } from './questions.js';
import { apiEvents } from '../../events.js';

export type QueryResults = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

interface SearchTypeError {
  readonly type: string;
  readonly description: string;
  readonly query_id: string;
  readonly search_type_id: string;
  readonly backtrace: string;
}

type Result = Readonly<Record<string, unknown>>;
type Run = (context: Context, asked: AskedType) => Promise<Result>;
const runners: Readonly<Record<string, Run>> = { messages: messageList, pivot, events: noEvents, logs: messageList };

/** Ids that are missing are given here, so that results can be told apart. */
export function withIds(body: SearchBody): readonly (QueryOfSearchBody & { readonly id: string })[] {
  return (body.queries ?? []).map((query) => ({
    ...query,
    id: query.id ?? randomUUID(),
    search_types: (query.search_types ?? []).map((type) => ({ ...type, id: type.id ?? randomUUID() })),
  }));
}

/** The queue of the search layer decides how many run at once. */
export async function executeSearch(
  context: Context,
  queries: readonly (QueryOfSearchBody & { readonly id: string })[],
  override: ExecuteBody['global_override'],
): Promise<QueryResults> {
  const kept = queries.filter(
    ({ id }) =>
      override?.keep_queries === undefined || override.keep_queries === null || override.keep_queries.includes(id),
  );
  return Object.fromEntries(
    await Promise.all(kept.map(async (query) => [query.id, await executeQuery(context, query, override)] as const)),
  );
}

async function executeQuery(
  context: Context,
  query: QueryOfSearchBody & { readonly id: string },
  override: ExecuteBody['global_override'],
): Promise<Readonly<Record<string, unknown>>> {
  const started = Date.now();
  const keep = override?.keep_search_types ?? undefined;
  const overrideOf = (type: SearchTypeBody): TypeOverride =>
    ownMember(override?.search_types ?? {}, type.id ?? '') ?? {};
  const types = (query.search_types ?? [])
    .filter((type) => keep === undefined || keep.includes(type.id ?? ''))
    .map((type) => ({ ...type, ...overrideOf(type) }));
  const errors: SearchTypeError[] = [];
  // A chart counts all messages of its question: a list of the same need not.
  const counting = new Map<string, Promise<number | undefined>>();
  const start = (type: SearchTypeBody): Promise<Result> => {
    const run = ownMember(runners, type.type);
    if (run === undefined)
      throw failure(
        'API_REQUEST_REFUSED',
        `There is no search type ${type.type.slice(0, 50)}. Allowed: ${Object.keys(runners).join(', ')}.`,
      );
    const over = { ...override, ...given(overrideOf(type)) };
    const asked = JSON.stringify(askedBy(context, query, type, over).question);
    const running = run(context, { query, type, override: over, counted: counting.get(asked) });
    if (run === pivot)
      counting.set(
        asked,
        running.then(
          ({ total }) => Number(total),
          () => undefined,
        ),
      );
    return running;
  };
  const chartsFirst = [...types].sort((left, right) => Number(right.type === 'pivot') - Number(left.type === 'pivot'));
  const results = await Promise.all(
    chartsFirst.map(async (type) => {
      try {
        return [[type.id ?? '', await start(type)] as const];
      } catch (error) {
        errors.push(problem(context, error, query.id, type.id ?? ''));
        return [];
      }
    }),
  );
  const effective = tried(() => askedBy(context, query, {}, override).effective);
  return {
    query: { ...query, search_types: undefined },
    execution_stats: {
      duration: Date.now() - started,
      timestamp: new Date(started).toISOString(),
      effective_timerange: effective,
    },
    search_types: Object.fromEntries(results.flat()),
    errors,
    state: errors.length === 0 ? 'COMPLETED' : errors.length === types.length ? 'FAILED' : 'INCOMPLETE',
  };
}

/** What an override for one search type says goes before what one for all says. */
function given({ timerange, limit, offset }: TypeOverride): ExecuteBody['global_override'] {
  return {
    ...(timerange === undefined ? {} : { timerange }),
    ...(limit === undefined ? {} : { limit }),
    ...(offset === undefined ? {} : { offset }),
  };
}

function problem({ services: { log } }: Context, error: unknown, queryId: string, typeId: string): SearchTypeError {
  const known = isForAsker(error);
  if (!known) apiEvents.searchFailed(log, { error: errorText(error) });
  const type = isSluiceError(error) && error.code === 'SEARCH_LIMIT' ? 'result_window_limit' : 'query';
  return {
    type,
    description: known ? error.message : 'The search could not be run at the moment.',
    query_id: queryId,
    search_type_id: typeId,
    backtrace: '',
  };
}

/** There are no events here; dashboards of peers ask for them all the same. */
async function noEvents(
  context: Context,
  { query, type, override }: AskedType,
): Promise<Readonly<Record<string, unknown>>> {
  return {
    id: type.id,
    type: 'events',
    events: [],
    total_results: 0,
    effective_timerange: askedBy(context, query, type, override).effective,
  };
}

function tried<Value>(make: () => Value): Value | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
