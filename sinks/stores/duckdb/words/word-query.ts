/** The part of a query that the words of the texts decide alone, after the matching rules of `schemas/query.ts`. */
import type { QueryNode } from '../../../../schemas/query.js';
import { lowerCase, wordsOf } from '../../../../schemas/words.js';
import { readsTexts } from '../sql/condition-sql.js';
import type { FieldTable } from '../files/fields.js';
import { defaultFields, expressionHints, wildcardExpression } from '../sql/query-sql.js';
import { isPlainText } from '../sql/value-sql.js';
import { wordFields, wholeField } from './segment-builder.js';

export type WordTest =
  | { readonly kind: 'and' | 'or'; readonly children: readonly WordTest[] }
  | { readonly kind: 'not'; readonly child: WordTest }
  /** `field`: its bit. */
  | { readonly kind: 'word'; readonly field: number; readonly word: string }
  | { readonly kind: 'pattern'; readonly field: number; readonly pattern: WordPattern };

/**
 * An expression for a whole word, and what helps to find the words that it matches. Those of one pattern are looked up
 * once, whatever the fields.
 */
export interface WordPattern {
  /** RE2; undefined: the words that begin with the prefix. */
  readonly expression: string | undefined;
  readonly prefix: string;
  readonly literal: string;
}

interface SplitQuery {
  readonly words: WordTest;
  /** What else must be true of the rows that it finds: of several words, that they stand one after the other. */
  readonly rest: readonly QueryNode[];
}

/** Undefined: words alone find nothing out. */
export function splitQuery(query: QueryNode, fields: FieldTable): SplitQuery | undefined {
  const tests: WordTest[] = [];
  const rest: QueryNode[] = [];
  for (const node of conjunction(query)) {
    const test = wordTest(node, fields, false);
    if (test !== undefined) tests.push(test);
    if (test === undefined || !isExact(node)) rest.push(node);
  }
  return tests.length === 0 ? undefined : { words: { kind: 'and', children: tests }, rest };
}

function conjunction(query: QueryNode): readonly QueryNode[] {
  return query.kind === 'and' ? query.children.flatMap(conjunction) : [query];
}

/** Whether the words that a text has say all: not in which order they stand. */
function isExact(node: QueryNode): boolean {
  if (node.kind === 'and' || node.kind === 'or') return node.children.every(isExact);
  if (node.kind === 'not') return isExact(node.child);
  return (node.kind !== 'term' && node.kind !== 'phrase') || wordsOf(node.text).length < 2;
}

/** Passed by all rows that match, and with `exactly` by no others. */
function wordTest(node: QueryNode, fields: FieldTable, exactly: boolean): WordTest | undefined {
  if (!readsTexts(node) || (exactly && !isExact(node))) return undefined;
  switch (node.kind) {
    case 'and':
    case 'or': {
      const children = node.children.map((child) => wordTest(child, fields, exactly));
      return children.every((child) => child !== undefined) ? { kind: node.kind, children } : undefined;
    }
    case 'not': {
      const child = wordTest(node.child, fields, true);
      return child === undefined ? undefined : { kind: 'not', child };
    }
    case 'term':
    case 'phrase':
      return inFields(node.field, fields, (field) => wordsTest(field, node.text));
    case 'wildcard': {
      const small = lowerCase(node.pattern);
      const pattern = wildcardPattern(small);
      return inFields(node.field, fields, (field) =>
        field !== wholeField && !mayBeWord(small) ? nothing : { kind: 'pattern', field: 1 << field, pattern },
      );
    }
    case 'regex': {
      const pattern: WordPattern = { expression: node.pattern, ...expressionHints(node.pattern) };
      return inFields(node.field, fields, (field) => ({ kind: 'pattern', field: 1 << field, pattern }));
    }
    default:
      return undefined;
  }
}

/** Undefined where a value of a field may lie outside of its column. */
function inFields(
  name: string | undefined,
  fields: FieldTable,
  test: (field: number) => WordTest,
): WordTest | undefined {
  const names: readonly string[] = name === undefined ? defaultFields : [name];
  const places = names.map((one) => (isPlainText(fields, one) ? (wordFields as readonly string[]).indexOf(one) : -1));
  return places.includes(-1) ? undefined : { kind: 'or', children: places.map(test) };
}

const nothing: WordTest = { kind: 'or', children: [] };

function wordsTest(field: number, text: string): WordTest {
  const words = field === wholeField ? [lowerCase(text)] : wordsOf(text);
  return words.length === 0
    ? nothing
    : { kind: 'and', children: words.map((word) => ({ kind: 'word', field: 1 << field, word })) };
}

const separator = /[\p{Z}\p{P}\p{S}\p{Cc}]/u;

/** A word has no separators in it, so a pattern with some in it matches none. */
function mayBeWord(pattern: string): boolean {
  return pattern !== '' && !separator.test(pattern.replace(/[*?]/g, ''));
}

/** `pattern`: in small letters. */
function wildcardPattern(pattern: string): WordPattern {
  const literals = pattern.split(/[*?]+/);
  const expression = /^[^*?]+\*+$/.test(pattern) ? undefined : wildcardExpression(pattern, '(?s:.)');
  return {
    expression,
    prefix: literals[0] ?? '',
    literal: literals.reduce((best, part) => (part.length > best.length ? part : best)),
  };
}
