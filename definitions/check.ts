/** Whether stored definitions and files fit together after a change. */
import type { ErrorDetails, SluiceError } from '../core/errors.js';
import type { RuleCompiler } from '../rules/compile/compiler.js';
import type { RuleSource } from '../rules/contract.js';
import type { Problem } from '../rules/problems.js';
import type { FieldProblem } from './contract.js';
import { objectErrors } from './errors.js';
import type { StoredDefinition, StoredDefinitions } from './stored.js';
import { withObjects } from './loader.js';
import { objectOf, pathInObject } from './rule-files.js';

/** OBJECT_INVALID with these as its cause. */
export function invalid(problems: readonly FieldProblem[]): SluiceError {
  const first = problems[0];
  const details: ErrorDetails = {
    place: first?.field === '' ? undefined : first?.field,
    got: first?.message.replace(/\.$/, ''),
  };
  return objectErrors.create('OBJECT_INVALID', { ...details, cause: { problems } });
}

export interface Checking {
  readonly compiler: RuleCompiler;
  readonly files: RuleSource;
}

function problemsOf({ compiler, files }: Checking, stored: StoredDefinitions): readonly Problem[] {
  const compiled = compiler.compile(withObjects(files, stored));
  return 'problems' in compiled ? compiled.problems : [];
}

/** Problems of `after` that `before` did not have, as far as they can be told apart. */
export function newProblems(
  checking: Checking,
  before: StoredDefinitions,
  after: StoredDefinitions,
): readonly Problem[] {
  const found = problemsOf(checking, after);
  if (found.length === 0) return [];
  const known = new Set(problemsOf(checking, before).map((problem) => signOf(problem, before)));
  return found.filter((problem) => !known.has(signOf(problem, after)));
}

/** Problems of the object itself keep their place; those that it causes elsewhere say where. */
export function describeProblems(
  problems: readonly Problem[],
  changed: Pick<StoredDefinition, 'kind' | 'id'>,
  stored: StoredDefinitions,
): readonly FieldProblem[] {
  return problems.map((problem) => {
    const object = objectOf(problem, stored);
    const own = object?.kind === changed.kind && object.id === changed.id;
    const where =
      object === undefined
        ? `${problem.file}:${problem.line} ${problem.path}`
        : `${object.kind} ${object.id}, ${pathInObject(problem)}`;
    return { field: own ? pathInObject(problem) : '', message: `${own ? '' : `In ${where}: `}${textOf(problem)}` };
  });
}

function textOf({ message, got, confidential = false, ...more }: Problem): string {
  const { allowed, suggestion } = confidential ? { allowed: undefined, suggestion: undefined } : more;
  return [
    message,
    got === undefined ? '' : `Got ${got}.`,
    allowed === undefined ? '' : `Allowed: ${allowed}.`,
    suggestion === undefined ? '' : `Did you mean ${suggestion}?`,
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function signOf(problem: Problem, stored: StoredDefinitions): string {
  const object = objectOf(problem, stored);
  return JSON.stringify([
    object === undefined ? problem.file : [object.kind, object.id],
    object === undefined ? problem.path : pathInObject(problem),
    problem.message,
    problem.got,
  ]);
}
