/** Operators' regular expressions: RE2 syntax, linear time, with the literals that a match cannot do without. */
import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { toError } from '../core/errors.js';

/** One of these must be in the text. */
type LiteralGroup = readonly string[];

export interface Pattern {
  readonly source: string;
  readonly re2: RE2JS;
  /** A text cannot match unless it has a literal of each group. */
  readonly groups: readonly LiteralGroup[];
  /** Finds anywhere in the text. `.` matches line breaks. */
  test(text: string): boolean;
  /** False: it cannot match. */
  mayMatch(text: string): boolean;
}

/** A pattern of this length is a mistake; programs grow with their patterns. */
export const maxPatternLength = 65_536;
/** Shorter literals are in nearly every text and sift nothing. */
const shortestLiteral = 2;

type Compiled = Pattern | { readonly error: string };

/**
 * Characters of the patterns that are remembered: far more than hand-written rules have, and a change compiles only its
 * own.
 */
const rememberedCharacters = 2 ** 19;
const remembered = new LRUCache<string, Compiled>({
  maxSize: rememberedCharacters,
  sizeCalculation: (_compiled, key) => key.length,
});

export function compilePattern(source: string, ignoreCase = false): Compiled {
  const key = `${ignoreCase ? 'i' : 'c'}${source}`;
  const known = remembered.get(key) ?? compile(source, ignoreCase);
  remembered.set(key, known);
  return known;
}

function compile(source: string, ignoreCase: boolean): Compiled {
  if (source.length > maxPatternLength) return { error: `longer than ${maxPatternLength} characters` };
  try {
    const re2 = RE2JS.compile(source, RE2JS.DOTALL | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0));
    const groups = requiredGroups(re2);
    return { source, re2, groups, mayMatch: sieve(groups), test: tester(re2, groups) };
  } catch (error) {
    return { error: toError(error).message.replace(/^error parsing regexp: /, '') };
  }
}

function tester(re2: RE2JS, groups: readonly LiteralGroup[]): (text: string) => boolean {
  if (groups.length === 0) return (text) => re2.test(text);
  const mayMatch = sieve(groups);
  return (text) => mayMatch(text) && re2.test(text);
}

function sieve(groups: readonly LiteralGroup[]): (text: string) => boolean {
  return (text) => {
    for (const group of groups) if (!includesOne(text, group)) return false;
    return true;
  };
}

function includesOne(text: string, group: LiteralGroup): boolean {
  for (const literal of group) if (text.includes(literal)) return true;
  return false;
}

/** Kinds of node in the literal tree that re2js builds for each program. */
const exact = 1;
const and = 2;
const or = 3;

/**
 * Reads the literal tree of the compiled program. It is not part of re2js's public face, so every step is checked: when
 * it looks different, nothing is required, which costs time and never a match.
 */
function requiredGroups(re2: RE2JS): readonly LiteralGroup[] {
  return groupsOf((re2.re2() as { prefilter?: unknown }).prefilter).filter(
    (group) => shortest(group) >= shortestLiteral,
  );
}

/** Every group must be met. */
function groupsOf(node: unknown): readonly LiteralGroup[] {
  if (typeof node !== 'object' || node === null || !('type' in node)) return [];
  if (node.type === exact) return 'str' in node && typeof node.str === 'string' && node.str !== '' ? [[node.str]] : [];
  if (!('subs' in node) || !Array.isArray(node.subs)) return [];
  if (node.type === and) return node.subs.flatMap(groupsOf);
  if (node.type !== or) return [];
  const alternatives = node.subs.map((sub) => strictestGroup(groupsOf(sub)));
  return alternatives.length > 0 && alternatives.every((group) => group !== undefined) ? [alternatives.flat()] : [];
}

/** The longer its shortest literal, the rarer. */
function strictestGroup(groups: readonly LiteralGroup[]): LiteralGroup | undefined {
  return [...groups].sort((left, right) => shortest(right) - shortest(left))[0];
}

const shortest = (group: LiteralGroup): number => Math.min(...group.map((literal) => literal.length));
