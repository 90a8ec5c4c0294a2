/** What the literal texts of a condition with terms and phrases leave open, told from the words of a row. */
import type { QueryNode } from '../../../../schemas/query.js';
import { containsPhrase, lowerCase, textFields, wordsOf } from '../../../../schemas/words.js';
import { readsTexts } from '../sql/condition-sql.js';
import type { FieldTable } from '../files/fields.js';
import { defaultFields } from '../sql/query-sql.js';
import { isPlainText } from '../sql/value-sql.js';

interface WordCheck {
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
  if (query.kind !== 'term' && query.kind !== 'phrase') return undefined;
  const names = query.field === undefined ? defaultFields : [query.field];
  if (!names.every((name) => isPlainText(fields, name))) return undefined;
  const [words, whole] = [wordsOf(query.text), lowerCase(query.text)];
  return [
    {
      fields: names,
      passes: (texts) =>
        names.some((name) =>
          textFields.has(name) ? containsPhrase(texts.get(name)?.words ?? [], words) : texts.get(name)?.small === whole,
        ),
    },
  ];
}
