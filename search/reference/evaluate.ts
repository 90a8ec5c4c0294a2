/**
 * The reference meaning of a query tree: what both stores must answer for a plain document (`schemas/query.ts`).
 * Left open there and fixed here: a term without any word matches no text field; wildcards and regular expressions
 * match strings (and members of lists) only; the letters of a wildcard on a text field or on `source` match in any
 * case; a range never matches a text field; a list matches when one of its members does, an empty one does not exist.
 */
import { RE2JS } from 're2js';
import { timeFields } from '../../schemas/index-fields.js';
import type { QueryNode, RangeEnd } from '../../schemas/query.js';
import { containsPhrase, textFields, wordsOf, lowerCase } from '../../schemas/words.js';
import { compareCodePoints, readNumber } from '../../core/values.js';
import { wildcardExpression } from '../language/patterns.js';

type Matcher = (document: Readonly<Record<string, unknown>>) => boolean;
type ValueTest = (value: string | number | boolean) => boolean;

/** Fields that a clause without a field looks into. */
const defaultFields = ['message', 'full_message', 'source'] as const;

/** One document against one tree; for many documents compile once. */
export function evaluate(node: QueryNode, document: Readonly<Record<string, unknown>>): boolean {
  return compileQuery(node)(document);
}

/** Compiles the patterns of the tree once. */
export function compileQuery(node: QueryNode): Matcher {
  switch (node.kind) {
    case 'all':
      return () => true;
    case 'none':
      return () => false;
    case 'not': {
      const inner = compileQuery(node.child);
      return (document) => !inner(document);
    }
    case 'and': {
      const inner = node.children.map(compileQuery);
      return (document) => inner.every((matches) => matches(document));
    }
    case 'or': {
      const inner = node.children.map(compileQuery);
      return (document) => inner.some((matches) => matches(document));
    }
    case 'exists':
      return (document) => valuesOf(document, node.field).length > 0;
    case 'range':
      return fieldMatcher(node.field, rangeTest(node.field, node.from, node.to));
    case 'term':
    case 'phrase':
      return eachField(node.field, (field) => equalityTest(field, node.text));
    case 'wildcard':
      return eachField(node.field, (field) =>
        patternTest(field, wildcardExpression(ignoresCase(field) ? lowerCase(node.pattern) : node.pattern)),
      );
    case 'regex':
      return eachField(node.field, (field) => patternTest(field, node.pattern));
  }
}

function ignoresCase(field: string): boolean {
  return textFields.has(field) || field === 'source';
}

function eachField(field: string | undefined, test: (field: string) => ValueTest): Matcher {
  if (field !== undefined) return fieldMatcher(field, test(field));
  const matchers = defaultFields.map((name) => fieldMatcher(name, test(name)));
  return (document) => matchers.some((matches) => matches(document));
}

function fieldMatcher(field: string, test: ValueTest): Matcher {
  return (document) => valuesOf(document, field).some(test);
}

function valuesOf(document: Readonly<Record<string, unknown>>, field: string): (string | number | boolean)[] {
  const value = Object.hasOwn(document, field) ? document[field] : undefined;
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((one) => typeof one === 'string' || typeof one === 'number' || typeof one === 'boolean');
}

function equalityTest(field: string, text: string): ValueTest {
  if (textFields.has(field)) {
    const wanted = wordsOf(text);
    return (value) => containsPhrase(wordsOf(String(value)), wanted);
  }
  if (field === 'source') {
    const wanted = lowerCase(text);
    return (value) => lowerCase(String(value)) === wanted;
  }
  const number = readNumber(text);
  return (value) => (typeof value === 'number' ? value === number : String(value) === text);
}

function patternTest(field: string, expression: string): ValueTest {
  const compiled = RE2JS.compile(expression);
  const matches = (text: string) => compiled.matches(text);
  if (textFields.has(field)) return (value) => wordsOf(String(value)).some(matches);
  if (field === 'source') return (value) => matches(lowerCase(String(value)));
  return (value) => typeof value === 'string' && matches(value);
}

function rangeTest(field: string, from: RangeEnd | undefined, to: RangeEnd | undefined): ValueTest {
  if (textFields.has(field)) return () => false;
  if (timeFields.has(field)) {
    return (value) => {
      const time = typeof value === 'string' ? Date.parse(value) : Number(value);
      return !Number.isNaN(time) && within(from, to, (end) => time - endTime(end));
    };
  }
  const numeric = [from, to].every((end) => end === undefined || typeof end.value === 'number');
  if (numeric) return (value) => typeof value === 'number' && within(from, to, (end) => value - Number(end));
  const fold = field === 'source' ? lowerCase : (text: string) => text;
  return (value) =>
    typeof value === 'string' && within(from, to, (end) => compareCodePoints(fold(value), fold(String(end))));
}

function endTime(end: string | number): number {
  return typeof end === 'number' ? end : Date.parse(end);
}

function within(
  from: RangeEnd | undefined,
  to: RangeEnd | undefined,
  compare: (end: string | number) => number,
): boolean {
  if (from !== undefined) {
    const order = compare(from.value);
    if (!(from.inclusive ? order >= 0 : order > 0)) return false;
  }
  if (to === undefined) return true;
  const order = compare(to.value);
  return to.inclusive ? order <= 0 : order < 0;
}
