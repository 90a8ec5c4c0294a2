/** What the literal texts of a condition leave open, told from the words of a row. */
import { RE2JS } from 're2js';
import type { QueryNode } from '../../../schemas/query.js';
import { containsPhrase, lowerCase, textFields, wordsOf } from '../../../schemas/words.js';
import { readsTexts } from './condition-sql.js';
import type { FieldTable } from './fields.js';
import { defaultFields, literalOf, wildcardExpression } from './query-sql.js';
import { mayBeInOtherFields } from './value-sql.js';

export interface WordCheck {
  /** The fields that it reads. */
  readonly fields: readonly string[];
  passes(texts: ReadonlyMap<string, CheckedText>): boolean;
}

/** A value, cut into words once. */
export class CheckedText {
  readonly #text: string | null;
  #small: string | undefined;
  #words: readonly string[] | undefined;

  constructor(text: string | null) {
    this.#text = text;
  }

  /** Undefined: there is no value. */
  get small(): string | undefined {
    if (this.#text !== null) this.#small ??= lowerCase(this.#text);
    return this.#small;
  }

  get words(): readonly string[] {
    this.#words ??= this.#text === null ? [] : wordsOf(this.#text);
    return this.#words;
  }
}

/** Undefined: words do not tell it. A row passes with all of them. */
export function wordChecks(query: QueryNode, fields: FieldTable): WordCheck[] | undefined {
  if (query.kind === 'and') {
    const checks = query.children.map((child) => wordChecks(child, fields));
    return checks.every((check) => check !== undefined) ? checks.flat() : undefined;
  }
  if (!readsTexts(query)) return [];
  if (query.kind !== 'term' && query.kind !== 'phrase' && query.kind !== 'wildcard' && query.kind !== 'regex') return undefined;
  const tests = testsOf(query);
  if (tests === undefined) return undefined;
  const names = query.field === undefined ? defaultFields : [query.field];
  if (!names.every((name) => isPlain(fields, name))) return undefined;
  const { inWords, whole } = tests;
  return [{ fields: names, passes: (texts) => names.some((name) => (textFields.has(name) ? inWords(texts.get(name)?.words ?? []) : whole(texts.get(name)?.small))) }];
}

/** Every value of the field is a text in its column. */
function isPlain(fields: FieldTable, name: string): boolean {
  const field = fields.get(name);
  return field?.slot !== undefined && !mayBeInOtherFields(fields, field) && (field.kind === 'text' || field.kind === 'string');
}

interface Tests {
  readonly inWords: (words: readonly string[]) => boolean;
  readonly whole: (text: string | undefined) => boolean;
}

function testsOf(query: QueryNode & { readonly kind: 'term' | 'phrase' | 'wildcard' | 'regex' }): Tests | undefined {
  if (query.kind === 'term' || query.kind === 'phrase') {
    const [wanted, whole] = [wordsOf(query.text), lowerCase(query.text)];
    return { inWords: (words) => containsPhrase(words, wanted), whole: (text) => text === whole };
  }
  const literal = literalOf(query);
  if (literal === '') return undefined;
  const expression = RE2JS.compile(query.kind === 'regex' ? query.pattern : wildcardExpression(lowerCase(query.pattern), '(?s:.)'));
  const matches = (text: string | undefined): boolean => text?.includes(literal) === true && expression.matches(text);
  return { inWords: (words) => words.some(matches), whole: matches };
}
