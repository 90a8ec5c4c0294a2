/** What is wrong with a query text, and where. */
import type { SluiceError } from '../../core/errors.js';
import type { TextSpan } from '../contract.js';
import { searchErrors } from '../errors.js';

type QueryProblemCode = Extract<keyof typeof searchErrors.kinds, `SEARCH_QUERY_${string}`>;

export interface QueryProblem {
  readonly kind: 'problem';
  readonly code: QueryProblemCode;
  /** UTF-16 offset in the query text, and the length of what is wrong; 0 at the end of the text. */
  readonly position: number;
  readonly length: number;
  readonly got: string;
  readonly allowed: string;
  /** A text to put instead of what is wrong. */
  readonly didYouMean: string | undefined;
}

/** Thrown within this folder only; `parseQuery` returns what it carries. */
export class QueryFailure extends Error {
  readonly problem: QueryProblem;
  constructor(problem: QueryProblem) {
    super(problem.code);
    this.problem = problem;
  }
}

interface ProblemDetails {
  readonly got: string;
  readonly allowed: string;
  readonly didYouMean?: string;
}

export function fail(code: QueryProblemCode, span: TextSpan, { got, allowed, didYouMean }: ProblemDetails): never {
  throw new QueryFailure({
    kind: 'problem',
    code,
    position: span.start,
    length: span.end - span.start,
    got: shorten(got),
    allowed,
    didYouMean,
  });
}

export function isQueryProblem(value: { readonly kind: string }): value is QueryProblem {
  return value.kind === 'problem';
}

/** One sentence, as the API and the command line show it. */
export function problemText(problem: QueryProblem): string {
  return queryError(problem).message;
}

export function queryError(problem: QueryProblem): SluiceError {
  const suggestion = problem.didYouMean === undefined ? '' : `. Did you mean ${problem.didYouMean}`;
  return searchErrors.create(problem.code, {
    place: `character ${problem.position + 1}`,
    got: problem.got,
    allowed: `${problem.allowed}${suggestion}`,
  });
}

/** At most `width` characters of the query around the problem, with carets under it. */
export function pointAt(text: string, problem: QueryProblem, width = 100): string {
  const from = Math.max(0, problem.position - Math.floor(width / 2));
  const shown = text.slice(from, from + width).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ');
  const at = problem.position - from;
  return `${shown}\n${' '.repeat(at)}${'^'.repeat(Math.max(1, Math.min(problem.length, shown.length - at)))}`;
}

function shorten(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}
