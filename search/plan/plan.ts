/**
 * From a question as people ask it to what a store is asked: query text to tree, scope added, index sets to indices.
 */
import { searchErrors } from '../errors.js';
import type { SearchQuestion, SortOrder } from '../contract.js';
import type { SearchScope } from '../../schemas/access.js';
import type { SearchSettings } from '../../schemas/config/search.js';
import { standardFields } from '../../schemas/index-fields.js';
import { indexPrefix } from '../../schemas/index-names.js';
import type { QueryNode } from '../../schemas/query.js';
import { parseQuery } from '../language/parser.js';
import { queryOptions } from '../language/options.js';
import { isQueryProblem, queryError } from '../language/problem.js';
import { scopedQuery } from './scope.js';
import type { SearchableStore } from '../store.js';
import { nameStreams } from './stream-names.js';

export interface PlanContext {
  readonly store: Pick<SearchableStore, 'indices'>;
  /** Every index set that exists now, the dead letters left out. */
  readonly indexSets: () => readonly string[];
  /** Ids of every stream that exists now. */
  readonly streams?: (() => readonly string[]) | undefined;
  readonly deadLetterSet: string;
  readonly settings: SearchSettings;
  readonly now: () => number;
}

export interface Plan {
  readonly query: QueryNode;
  readonly indices: readonly string[];
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export async function planSearch(context: PlanContext, question: SearchQuestion, scope: SearchScope): Promise<Plan> {
  const named = nameStreams(readQuery(context, question.query), () => context.streams?.() ?? []);
  const query = scopedQuery(named, scope, question.streams);
  const sets = searchedSets(context, question.indexSets, scope);
  const indices = query.kind === 'none' || sets.length === 0 ? [] : await context.store.indices.openNames(sets);
  return { query, indices, from: question.from, to: question.to };
}

/** Throws SEARCH_QUERY_INVALID with the place; its cause has the code of what is wrong. */
function readQuery({ settings, now }: Pick<PlanContext, 'settings' | 'now'>, text: string): QueryNode {
  const node = parseQuery(text, { ...queryOptions(settings), now: now() });
  if (!isQueryProblem(node)) return node;
  const cause = queryError(node);
  throw searchErrors.create('SEARCH_QUERY_INVALID', {
    place: cause.place,
    got: `${cause.got ?? ''}: ${searchErrors.kinds[node.code].summary.replace(/\.$/, '')}`,
    allowed: cause.allowed,
    cause,
  });
}

/** A set that may not be seen is treated as one that does not exist. */
function searchedSets(
  { indexSets, deadLetterSet }: PlanContext,
  wanted: readonly string[] | undefined,
  scope: SearchScope,
): readonly string[] {
  const known = new Set(indexSets().filter((set) => set !== deadLetterSet));
  if (wanted === undefined) return [...known];
  return [...new Set(wanted)].filter((set) => known.has(set) || (set === deadLetterSet && scope.deadLetters));
}

/** Whether the index belongs to a set that the scope may search. */
export function mayHold(context: PlanContext, index: string, scope: SearchScope): boolean {
  const set = indexPrefix(index);
  return set !== undefined && searchedSets(context, [set], scope).length > 0;
}

const lists: ReadonlySet<string> = new Set(['streams', 'adjustments', 'other_fields']);

export function checkSort(sort: SortOrder): void {
  if (standardFields.get(sort.field) !== 'text' && !lists.has(sort.field) && sort.field !== '') return;
  throw searchErrors.create('SEARCH_SORT_FIELD', {
    place: 'sort',
    got: sort.field,
    allowed:
      'any field but those that are cut into words (message, full_message) or hold lists (streams, adjustments, other_fields)',
  });
}
