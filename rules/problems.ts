/** A mistake in a rule file: where it is, what came, what is allowed, what was probably meant. */
import { at } from '../core/at.js';
import type { SluiceError } from '../core/errors.js';
import { rulesErrors } from './errors.js';

export type Path = readonly (string | number)[];

export interface Problem {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
  /** `rules[2].when.field`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
  readonly got: string | undefined;
  readonly allowed: string | undefined;
  readonly suggestion: string | undefined;
  /**
   * What is allowed, and the suggestion, are names that not everybody may know: an answer of the API leaves them out.
   */
  readonly confidential?: boolean;
}

interface ProblemDetails extends Pick<Problem, 'confidential'> {
  readonly got?: string | undefined;
  readonly allowed?: string | undefined;
  readonly suggestion?: string | undefined;
  /** Point at the key instead of its value. */
  readonly atKey?: boolean;
}

/** A place in a rule file that can report what is wrong there. */
export interface Place {
  readonly file: string;
  readonly path: Path;
  readonly at: (...more: Path) => Place;
  readonly report: (message: string, details?: ProblemDetails) => void;
}

/** A file whose text says where each value stands. */
export interface LocatedFile {
  readonly name: string;
  /** Of the value at the path, or of its key; from 1. */
  readonly positionOf: (path: Path, atKey: boolean) => { readonly line: number; readonly column: number };
}

/** Enough to work through; the rest follows from them more often than not. */
export const maxProblems = 200;

export function createPlace(file: LocatedFile, path: Path, problems: Problem[]): Place {
  return {
    file: file.name,
    path,
    at: (...more) => createPlace(file, [...path, ...more], problems),
    report: (message, details = {}) => {
      if (problems.length >= maxProblems) return;
      const { line, column } = file.positionOf(path, details.atKey === true);
      problems.push({
        file: file.name,
        line,
        column,
        path: pathText(path),
        message,
        got: details.got,
        allowed: details.allowed,
        suggestion: details.suggestion,
        ...(details.confidential === true ? { confidential: true } : {}),
      });
    },
  };
}

function pathText(path: Path): string {
  return path.map((part, place) => (typeof part === 'number' ? `[${part}]` : place === 0 ? part : `.${part}`)).join('');
}

/** One line for a terminal: `file:line:column path: message Got x. Allowed: y. Did you mean z?` */
export function formatProblem(problem: Problem): string {
  const parts = [
    `${problem.file}:${problem.line}:${problem.column}${problem.path === '' ? '' : ` ${problem.path}`}: ${problem.message}`,
  ];
  if (problem.got !== undefined) parts.push(`Got ${problem.got}.`);
  if (problem.allowed !== undefined) parts.push(`Allowed: ${problem.allowed}.`);
  if (problem.suggestion !== undefined) parts.push(`Did you mean ${problem.suggestion}?`);
  return parts.join(' ');
}

/** The first of them, as an error. */
export function invalidRules([first]: readonly Problem[]): SluiceError {
  return rulesErrors.create('PIPELINE_RULES_INVALID', {
    place: first === undefined ? undefined : `${first.file}:${first.line}:${first.column}`,
    got: first?.message,
  });
}

/** Shortened for a message. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = (JSON.stringify(value) as string | undefined) ?? typeof value;
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

/** The nearest of the candidates, when it is near enough to be meant. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

/**
 * Levenshtein, with exchanged neighbours as one step. Words here are short: ids and keys of at most a hundred
 * characters.
 */
function editDistance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > 40 || left.length > 100 || right.length > 100)
    return Number.MAX_SAFE_INTEGER;
  const rows = Array.from({ length: left.length + 1 }, (_, row) =>
    Array.from({ length: right.length + 1 }, (__, column) => (row === 0 ? column : column === 0 ? row : 0)),
  );
  const cell = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let row = 1; row <= left.length; row += 1) {
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let value = Math.min(
        cell(row - 1, column) + 1,
        cell(row, column - 1) + 1,
        cell(row - 1, column - 1) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1])
        value = Math.min(value, cell(row - 2, column - 2) + 1);
      at(rows, row)[column] = value;
    }
  }
  return cell(left.length, right.length);
}
