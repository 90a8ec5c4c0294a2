/**
 * Which entries (rules, then streams) can match a message at all, by their requirements. Equalities are looked up by
 * value, literals are found in one pass over the text, limits are sorted; entries without a requirement are always in.
 * A written field only ever adds candidates: each candidate's whole condition is tested at its turn.
 */
import type { FieldValue, LogDocument } from '../../schemas/messages.js';
import { aliases, numberOf, textOf, type Value } from '../fields.js';
import { createLiteralScanner, type LiteralScanner } from './literal-scanner.js';
import { indexedRequirements, type Clause, type Requirements } from '../requirement.js';

export interface CandidateIndex {
  /**
   * Words of 32 entries. The bit set has twice as many: one half for each of the two requirements that are looked up;
   * an entry is a candidate when both of its bits are set.
   */
  readonly words: number;
  start(document: LogDocument, bits: Uint32Array): void;
  /** Before a field is written. */
  write(document: LogDocument, field: string, value: FieldValue, bits: Uint32Array): void;
  /** After a field was removed: conditions on it may see its alias now. */
  reveal(document: LogDocument, field: string, bits: Uint32Array): void;
}

type Mark = (entries: readonly number[]) => void;
type MarkValue = (value: Exclude<Value, undefined>) => void;

interface KnownField {
  readonly alias: string | undefined;
  readonly marks: readonly MarkValue[];
}

interface Gathered {
  readonly values: Map<string, number[]>;
  readonly literals: Map<string, number[]>;
  readonly greater: { readonly limit: number; readonly entries: readonly number[] }[];
  readonly less: { readonly limit: number; readonly entries: readonly number[] }[];
  readonly exists: number[];
}

export function createCandidateIndex(requirements: readonly Requirements[]): CandidateIndex {
  const words = Math.ceil(requirements.length / 32);
  const always = new Uint32Array(words * 2);
  const gathered = gather(requirements, words, always);
  let current = new Uint32Array(words * 2);
  const mark: Mark = (entries) => {
    for (const entry of entries) current[entry >>> 5] = (current[entry >>> 5] as number) | (1 << (entry & 31));
  };
  const byField = marksByField(new Map([...gathered].map(([field, found]) => [field, createMarks(found, mark)])));
  return {
    words,
    start: (document, bits) => {
      current = bits as Uint32Array<ArrayBuffer>;
      for (let word = 0; word < always.length; word += 1) bits[word] = always[word] as number;
      for (const field in document) {
        const known = byField.get(field);
        if (known === undefined) continue;
        const value = document[field];
        if (value !== undefined) for (const markValue of known.marks) markValue(value);
      }
    },
    write: (document, field, value, bits) => {
      const known = byField.get(field);
      if (known === undefined) return;
      // Both names mark the same entries: what stands under the other one has marked them.
      if (known.alias !== undefined && document[known.alias] === value) return;
      current = bits as Uint32Array<ArrayBuffer>;
      for (const markValue of known.marks) markValue(value);
    },
    reveal: (document, field, bits) => {
      const known = byField.get(field);
      const value = known?.alias === undefined ? undefined : document[known.alias];
      if (known === undefined || value === undefined) return;
      current = bits as Uint32Array<ArrayBuffer>;
      for (const markValue of known.marks) markValue(value);
    },
  };
}

/**
 * By field, also under its alias: a condition on `pod` may see `pod_name`. Where a message has both, one of them marks
 * in vain.
 */
function marksByField(own: ReadonlyMap<string, MarkValue>): ReadonlyMap<string, KnownField> {
  const fields = new Map<string, { alias: string | undefined; marks: MarkValue[] }>();
  for (const [field, markValue] of own) {
    for (const name of [field, aliases.get(field)]) {
      if (name === undefined) continue;
      const known = fields.get(name) ?? { alias: aliases.get(name), marks: [] };
      known.marks.push(markValue);
      fields.set(name, known);
    }
  }
  return fields;
}

function gather(
  requirements: readonly Requirements[],
  words: number,
  always: Uint32Array,
): ReadonlyMap<string, Gathered> {
  const gathered = new Map<string, Gathered>();
  for (const [entry, all] of requirements.entries()) {
    const indexed = indexedRequirements(all);
    for (const half of [0, 1]) {
      const bit = half * words * 32 + entry;
      const requirement = indexed[half];
      if (requirement === undefined) always[bit >>> 5] = (always[bit >>> 5] as number) | (1 << (bit & 31));
      else for (const clause of requirement) addClause(gathered, clause, bit);
    }
  }
  return gathered;
}

function addClause(gathered: Map<string, Gathered>, clause: Clause, bit: number): void {
  const found = gathered.get(clause.field) ?? {
    values: new Map<string, number[]>(),
    literals: new Map<string, number[]>(),
    greater: [],
    less: [],
    exists: [],
  };
  gathered.set(clause.field, found);
  if (clause.kind === 'equals') for (const value of clause.values) addTo(found.values, value, bit);
  else if (clause.kind === 'literal') for (const literal of clause.literals) addTo(found.literals, literal, bit);
  else if (clause.kind === 'exists') found.exists.push(bit);
  else found[clause.kind].push({ limit: clause.limit, entries: [bit] });
}

function addTo(map: Map<string, number[]>, key: string, entry: number): void {
  const entries = map.get(key);
  if (entries === undefined) map.set(key, [entry]);
  else if (entries.at(-1) !== entry) entries.push(entry);
}

function createMarks(found: Gathered, mark: Mark): MarkValue {
  const { values, exists } = found;
  const longest = Math.max(0, ...[...values.keys()].map((value) => value.length));
  const scanner: LiteralScanner | undefined =
    found.literals.size > 0 ? createLiteralScanner(found.literals) : undefined;
  const greater = found.greater.sort((left, right) => left.limit - right.limit);
  const less = found.less.sort((left, right) => right.limit - left.limit);
  const compares = greater.length + less.length > 0;
  return (value) => {
    if (exists.length > 0) mark(exists);
    if (compares) markNumber(numberOf(value), greater, less, mark);
    if (longest === 0 && scanner === undefined) return;
    const text = textOf(value);
    if (longest > 0) markEqual(text, values, longest, mark);
    if (scanner !== undefined) scanner.scan(text, mark);
  };
}

/** NaN is neither greater nor less than any limit. */
function markNumber(number: number, greater: Gathered['greater'], less: Gathered['less'], mark: Mark): void {
  for (const { limit, entries } of greater) {
    if (!(number > limit)) break;
    mark(entries);
  }
  for (const { limit, entries } of less) {
    if (!(number < limit)) break;
    mark(entries);
  }
}

function markEqual(text: string, values: ReadonlyMap<string, readonly number[]>, longest: number, mark: Mark): void {
  if (text.length <= longest) {
    const entries = values.get(text);
    if (entries !== undefined) mark(entries);
  }
  if (text.length > 0 && (mayBeSpace(text.charCodeAt(0)) || mayBeSpace(text.charCodeAt(text.length - 1)))) {
    const entries = values.get(text.trim());
    if (entries !== undefined) mark(entries);
  }
}

/** White space of Unicode lies at or below U+0020 and from U+00A0 on. */
const mayBeSpace = (code: number): boolean => code <= 32 || code >= 160;
