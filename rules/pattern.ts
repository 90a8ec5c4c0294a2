/** Operators' regular expressions: RE2 syntax, linear time, with the literals that a match cannot do without. */
import { RE2JS } from 're2js';
import { toError } from '../core/errors.js';

export interface Pattern {
  readonly source: string;
  readonly re2: RE2JS;
  /** A text without any of these cannot match; undefined: nothing is known. */
  readonly literals: readonly string[] | undefined;
  /** Finds anywhere in the text. `.` matches line breaks. */
  test(text: string): boolean;
}

/** A pattern of this length is a mistake; programs grow with their patterns. */
export const maxPatternLength = 65_536;
/** Shorter literals are in nearly every text and sift nothing. */
const shortestLiteral = 2;

export function compilePattern(source: string, ignoreCase = false): Pattern | { readonly error: string } {
  if (source.length > maxPatternLength) return { error: `longer than ${maxPatternLength} characters` };
  try {
    const re2 = RE2JS.compile(source, RE2JS.DOTALL | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0));
    const literals = requiredLiterals(re2);
    return { source, re2, literals, test: tester(re2, literals) };
  } catch (error) {
    return { error: toError(error).message.replace(/^error parsing regexp: /, '') };
  }
}

function tester(re2: RE2JS, literals: readonly string[] | undefined): (text: string) => boolean {
  if (literals === undefined) return (text) => re2.test(text);
  const [only] = literals;
  if (literals.length === 1 && only !== undefined) return (text) => text.includes(only) && re2.test(text);
  return (text) => literals.some((literal) => text.includes(literal)) && re2.test(text);
}

/** Kinds of node in the literal tree that re2js builds for each program. */
const exact = 1;
const and = 2;
const or = 3;

/**
 * Reads the literal tree of the compiled program. It is not part of re2js's public face, so every step is checked: when
 * it looks different, nothing is required, which costs time and never a match.
 */
function requiredLiterals(re2: RE2JS): readonly string[] | undefined {
  const literals = literalsOf((re2.re2() as { prefilter?: unknown }).prefilter);
  return literals === undefined || literals.some((literal) => literal.length < shortestLiteral) ? undefined : literals;
}

function literalsOf(node: unknown): readonly string[] | undefined {
  if (typeof node !== 'object' || node === null || !('type' in node)) return undefined;
  if (node.type === exact) return 'str' in node && typeof node.str === 'string' && node.str !== '' ? [node.str] : undefined;
  if (!('subs' in node) || !Array.isArray(node.subs)) return undefined;
  const children = node.subs.map(literalsOf);
  if (node.type === or) return children.length > 0 && children.every((child) => child !== undefined) ? children.flat() : undefined;
  if (node.type !== and) return undefined;
  const known = children.filter((child) => child !== undefined);
  return known.sort((left, right) => shortest(right) - shortest(left))[0];
}

const shortest = (literals: readonly string[]): number => Math.min(...literals.map((literal) => literal.length));
