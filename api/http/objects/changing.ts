/** What every change of an object goes through. */
import { isSluiceError } from '../../../core/errors.js';
import { ownMember } from '../../../core/own-member.js';
import { fieldProblemsOf, type CatalogItem } from '../../../definitions/contract.js';
import { failure, invalidMembers } from '../failure.js';

/** Members of requests that are named otherwise in rule files. */
const memberNames: Readonly<Record<string, string>> = { index_set: 'index_set_id', id: 'name' };

/** Gives mistakes in the object the names that its members have in requests; `names`: those of this kind of object. */
export async function storing<Result>(
  work: () => Promise<Result> | Result,
  names: Readonly<Record<string, string>> = {},
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    if (error.code === 'OBJECT_INVALID')
      throw invalidOf(fieldProblemsOf(error), error.message, { ...memberNames, ...names });
    throw error;
  }
}

function invalidOf(
  problems: readonly { readonly field: string; readonly message: string }[],
  message: string,
  names: Readonly<Record<string, string>>,
): Error {
  if (problems.length === 0) return failure('API_REQUEST_REFUSED', message);
  const members = Object.create(null) as Record<string, string[]>;
  for (const problem of problems)
    (members[ownMember(names, problem.field) ?? (problem.field || 'entity')] ??= []).push(problem.message);
  return invalidMembers(members);
}

/** What stands in a file of the operator is changed there. */
export function assertChangeable(what: string, { id, origin, file, stored, derived }: CatalogItem): void {
  if (derived)
    throw failure(
      'API_MANAGED_ELSEWHERE',
      `The ${what} ${id} comes of an extractor or a pipeline and is changed there.`,
      {
        body: { origin },
      },
    );
  if (origin === 'file' && stored === undefined)
    throw failure(
      'API_MANAGED_ELSEWHERE',
      `The ${what} ${id} stands in the rule file ${file ?? ''} and is changed there.`,
      {
        body: { origin, file },
      },
    );
}

export function assertRemovable(what: string, item: CatalogItem): void {
  assertChangeable(what, item);
  if (item.origin === 'shipped')
    throw failure(
      'API_MANAGED_ELSEWHERE',
      `The ${what} ${item.id} ships with the program: it can be changed, not deleted.`,
      {
        body: { origin: item.origin },
      },
    );
}

export function found<Item>(what: string, item: Item | undefined): Item {
  if (item === undefined) throw failure('API_NOT_FOUND', `There is no such ${what}.`);
  return item;
}
