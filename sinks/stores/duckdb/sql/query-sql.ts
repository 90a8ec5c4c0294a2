/** A query tree as an SQL condition on the table `documents`, after the matching rules of `schemas/query.ts`. */
import { lowerCase, maxWordLength, separatorClass, textFields, wordsOf } from '../../../../schemas/words.js';
import type { QueryNode, RangeEnd } from '../../../../schemas/query.js';
import { readNumber } from '../../../../core/values.js';
import type { FieldTable } from '../files/fields.js';
import { readTime } from './times.js';
import { fieldSql, numberSql, type SqlParameters, type ValueTest } from './value-sql.js';

/** Fields that a clause without a field looks into. */
export const defaultFields = ['message', 'full_message', 'source'] as const;
const timeFields: ReadonlySet<string> = new Set(['timestamp', 'receive_time']);

interface QueryContext {
  readonly fields: FieldTable;
  readonly parameters: SqlParameters;
  /**
   * Expressions for the words of texts, which take the engine 10 ms each to get ready, give way to what every match
   * contains: more rows pass.
   */
  readonly literalsOnly?: boolean;
}

/** The condition may be NULL where it is not true. */
export function querySql(node: QueryNode, context: QueryContext): string {
  switch (node.kind) {
    case 'all':
      return 'true';
    case 'none':
      return 'false';
    case 'and':
      return node.children.length === 0
        ? 'true'
        : `(${node.children.map((child) => querySql(child, context)).join(' AND ')})`;
    case 'or':
      return (
        manyMembers(node.children, context) ??
        (node.children.length === 0
          ? 'false'
          : `(${node.children.map((child) => querySql(child, context)).join(' OR ')})`)
      );
    case 'not':
      return `(NOT coalesce(${querySql(node.child, { ...context, literalsOnly: false })}, false))`;
    case 'exists':
      return fieldSql(context.fields, node.field, existsTest, context.parameters);
    case 'range':
      return fieldSql(
        context.fields,
        node.field,
        rangeTest(node.field, node.from, node.to, context.parameters),
        context.parameters,
      );
    case 'term':
    case 'phrase':
      return eachField(node.field, context, (field) => equalityTest(field, node.text, context));
    case 'wildcard':
      return eachField(node.field, context, (field) => wildcardTest(field, node.pattern, context));
    case 'regex':
      return eachField(node.field, context, (field) => regexTest(field, node.pattern, context));
  }
}

/** More of them than these are looked for at once. */
const fewMembers = 4;
const plainMember = /^[\w .:/-]+$/;

/** One of many members of the list of streams, in one pass over it. */
function manyMembers(nodes: readonly QueryNode[], { fields, parameters }: QueryContext): string | undefined {
  const ids = nodes.flatMap((node) =>
    node.kind === 'term' && node.field === 'streams' && plainMember.test(node.text) ? [node.text] : [],
  );
  const field = fields.get('streams');
  if (
    ids.length !== nodes.length ||
    ids.length <= fewMembers ||
    field?.kind !== 'list' ||
    field.slot === undefined ||
    field.spills
  )
    return undefined;
  return `regexp_matches(c${field.slot}, ${parameters.text(`(?:^\\[|,)"(?:${ids.map(quote).join('|')})"`)})`;
}

function eachField(field: string | undefined, context: QueryContext, test: (field: string) => ValueTest): string {
  const names = field === undefined ? defaultFields : [field];
  return `(${names.map((name) => fieldSql(context.fields, name, test(name), context.parameters)).join(' OR ')})`;
}

const existsTest: ValueTest = {
  text: (value) => `(${value} IS NOT NULL)`,
  number: (value) => `(${value} IS NOT NULL)`,
  boolean: (value) => `(${value} IS NOT NULL)`,
  list: (value) => `(${value} <> '[]')`,
};

const noTest: ValueTest = {};

function equalityTest(field: string, text: string, context: QueryContext): ValueTest {
  const { parameters } = context;
  if (textFields.has(field)) {
    const words = wordsOf(text);
    return words.length === 0 ? noTest : { text: phraseTest(words, context), anyAsText: true };
  }
  if (field === 'source') {
    const wanted = parameters.text(lowerCase(text));
    return { text: (value) => `(lower(${value}) = ${wanted})`, anyAsText: true };
  }
  const number = readNumber(text);
  const wanted = parameters.text(text);
  const boolean =
    text === 'true' ? (value: string) => value : text === 'false' ? (value: string) => `(NOT ${value})` : undefined;
  return {
    text: (value) => `(${value} = ${wanted})`,
    ...(number !== undefined && { number: (value: string) => `(${value} = ${numberSql(number)})` }),
    ...(boolean !== undefined && { boolean }),
    ...(plainMember.test(text) && { list: listContains(text, parameters) }),
  };
}

/**
 * A quote inside of a member is escaped, so a quote after a comma begins a member unless the text itself begins with a
 * separator.
 */
function listContains(text: string, parameters: SqlParameters): (value: string) => string {
  const first = parameters.text(`["${text}"`);
  const later = parameters.text(`,"${text}"`);
  return (value) => `(starts_with(${value}, ${first}) OR contains(${value}, ${later}))`;
}

/**
 * What stands between spaces is a word: that is seen much quicker than by the expression, which knows all separators.
 */
function phraseTest(words: readonly string[], { parameters, literalsOnly }: QueryContext): (value: string) => string {
  const longest = parameters.text(words.reduce((best, word) => (word.length > best.length ? word : best)));
  if (literalsOnly === true) return (value) => `contains(lower(${value}), ${longest})`;
  const pattern = parameters.text(
    wholeWords(
      words
        .map((word) => quote(word) + (word.length >= maxWordLength ? `[^${separatorClass}]*` : ''))
        .join(`[${separatorClass}]+`),
    ),
  );
  const spaced = parameters.text(` ${words.join(' ')} `);
  return (value) =>
    `(contains(lower(${value}), ${longest}) AND (contains(lower(${value}), ${spaced}) OR regexp_matches(lower(${value}), ${pattern})))`;
}

function wholeWords(expression: string): string {
  return `(?:^|[${separatorClass}])(?:${expression})(?:$|[${separatorClass}])`;
}

function wildcardTest(field: string, pattern: string, context: QueryContext): ValueTest {
  const { parameters } = context;
  if (textFields.has(field)) return wordWildcardTest(lowerCase(pattern), context);
  const folds = field === 'source';
  const expression = parameters.text(wildcardExpression(folds ? lowerCase(pattern) : pattern, '(?s:.)'));
  return {
    text: (value) => `regexp_full_match(${folds ? `lower(${value})` : value}, ${expression})`,
    anyAsText: folds,
  };
}

function wordWildcardTest(pattern: string, { parameters, literalsOnly }: QueryContext): ValueTest {
  const literals = pattern.split(/[*?]+/).filter((part) => part !== '');
  const spansWords = literals.some((part) => new RegExp(`[\\p{Z}\\p{P}\\p{S}\\p{C}]`, 'u').test(part));
  if (spansWords || pattern === '') return noTest;
  const inWord = `[^${separatorClass}]`;
  const expression = parameters.text(/^\*+$/.test(pattern) ? inWord : wholeWords(wildcardExpression(pattern, inWord)));
  const longest = literals.reduce((best, part) => (part.length > best.length ? part : best), '');
  const literal = longest === '' ? undefined : parameters.text(longest);
  if (literalsOnly === true && literal !== undefined)
    return { text: (value) => `contains(lower(${value}), ${literal})`, anyAsText: true };
  const spaced = /^[^*?]+\*+$/.test(pattern) ? parameters.text(` ${longest}`) : undefined;
  return {
    text: (value) =>
      `(${literal === undefined ? '' : `contains(lower(${value}), ${literal}) AND `}(${spaced === undefined ? '' : `contains(lower(${value}), ${spaced}) OR `}regexp_matches(lower(${value}), ${expression})))`,
    anyAsText: true,
  };
}

/** `character`: what `?` stands for. */
export function wildcardExpression(pattern: string, character: string): string {
  return pattern
    .split(/([*?])/)
    .map((part) => (part === '*' ? `${character}*` : part === '?' ? character : quote(part)))
    .join('');
}

function regexTest(field: string, pattern: string, { parameters, literalsOnly }: QueryContext): ValueTest {
  const expression = parameters.text(pattern);
  if (field === 'source')
    return { text: (value) => `regexp_full_match(lower(${value}), ${expression})`, anyAsText: true };
  if (!textFields.has(field)) return { text: (value) => `regexp_full_match(${value}, ${expression})` };
  const single = singleWordExpression(pattern);
  if (single !== undefined) {
    const whole = parameters.text(wholeWords(single));
    const literal = requiredLiteral(pattern);
    const first = literal === '' ? undefined : parameters.text(literal);
    if (literalsOnly === true && first !== undefined)
      return { text: (value) => `contains(lower(${value}), ${first})`, anyAsText: true };
    return {
      text: (value) =>
        `(${first === undefined ? '' : `contains(lower(${value}), ${first}) AND `}regexp_matches(lower(${value}), ${whole}))`,
      anyAsText: true,
    };
  }
  const separators = parameters.text(`[${separatorClass}]+`);
  const anchored = /[\^$]|\\[AzbB]/.test(pattern);
  const words = (value: string) =>
    `list_filter(string_split_regex(lower(${value}), ${separators}), lambda w: w <> '' AND regexp_full_match(w[1:${maxWordLength}], ${expression}))`;
  return {
    text: (value) =>
      `(${anchored ? '' : `regexp_matches(lower(${value}), ${expression}) AND `}len(${words(value)}) > 0)`,
    anyAsText: true,
  };
}

const wordRange = '(?:[a-z]-[a-z]|[0-9]-[0-9]|[\\p{L}\\p{N}])+';
const plainExpression = new RegExp(
  `^(?:[\\p{L}\\p{N}]|[.*+|)]|\\((?:\\?:)?|\\?|\\{\\d{1,3}(?:,\\d{0,3})?\\}|\\[${wordRange}\\]|\\\\d)*$`,
  'u',
);

/**
 * The expression such that it cannot match beyond one word, so that texts need not be cut into words (ten times
 * slower); undefined when it has constructs for which that is not easily seen, or matches nothing at all.
 */
function singleWordExpression(pattern: string): string | undefined {
  if (!plainExpression.test(pattern)) return undefined;
  try {
    if (new RegExp(`^(?:${pattern})$`, 'u').test('')) return undefined;
  } catch {
    return undefined;
  }
  return pattern.replaceAll('.', `[^${separatorClass}]`);
}

/**
 * The longest text that every match of such an expression contains, outside of its groups; empty when there is none.
 * Finding it first is several times faster.
 */
function requiredLiteral(pattern: string): string {
  const outside = pattern.replace(/\[[^\]]*\]/g, '\0').replace(/\\./gu, '\0');
  let level = 0;
  let flat = '';
  for (const character of outside) {
    if (character === '(') level += 1;
    if (level === 0) flat += character;
    else if (character === ')') {
      level -= 1;
      if (level === 0) flat += '\0';
    }
  }
  if (flat.includes('|')) return '';
  // What is repeated may be missing, or come more than once.
  const runs = flat.replace(/.(?:[*?]|\{[^}]*\})/gsu, '\0').split(/[^\p{L}\p{N}]+/u);
  return runs.reduce((best, run) => (run.length > best.length ? run : best), '');
}

/**
 * What helps to find the words that an expression matches: what each of them begins with and contains. Both may be
 * empty.
 */
export function expressionHints(pattern: string): { readonly prefix: string; readonly literal: string } {
  const literal = singleWordExpression(pattern) === undefined ? '' : requiredLiteral(pattern);
  if (literal === '') return { prefix: '', literal };
  const run = /^[\p{L}\p{N}]*/u.exec(pattern)?.[0] ?? '';
  // What is repeated may be missing.
  return { prefix: /^[*?{]/.test(pattern.slice(run.length)) ? Array.from(run).slice(0, -1).join('') : run, literal };
}

function rangeTest(
  field: string,
  from: RangeEnd | undefined,
  to: RangeEnd | undefined,
  parameters: SqlParameters,
): ValueTest {
  if (textFields.has(field)) return noTest;
  if (timeFields.has(field)) return timeRangeTest(from, to);
  const numeric = [from, to].every((end) => end === undefined || typeof end.value === 'number');
  if (numeric) return { number: (value) => between(value, from, to, (end) => numberSql(Number(end))) };
  const folds = field === 'source';
  const bound = (end: string | number) => parameters.text(folds ? lowerCase(String(end)) : String(end));
  return { text: (value) => between(folds ? `lower(${value})` : value, from, to, bound) };
}

function timeRangeTest(from: RangeEnd | undefined, to: RangeEnd | undefined): ValueTest {
  const ends = [from, to].map((end) =>
    end === undefined ? 0 : typeof end.value === 'number' ? end.value : readTime(end.value),
  );
  if (ends.some((end) => end === undefined || Number.isNaN(end))) return noTest;
  return {
    time: (value) => between(value, from, to, (end) => numberSql(typeof end === 'number' ? end : Date.parse(end))),
  };
}

function between(
  value: string,
  from: RangeEnd | undefined,
  to: RangeEnd | undefined,
  bound: (end: string | number) => string,
): string {
  const conditions = [`${value} IS NOT NULL`];
  if (from !== undefined) conditions.push(`${value} ${from.inclusive ? '>=' : '>'} ${bound(from.value)}`);
  if (to !== undefined) conditions.push(`${value} ${to.inclusive ? '<=' : '<'} ${bound(to.value)}`);
  return `(${conditions.join(' AND ')})`;
}

/** The text as an RE2 expression that matches just it. */
function quote(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&').replaceAll('\0', '\\x00');
}
