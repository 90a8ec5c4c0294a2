/**
 * Query trees as the query language of OpenSearch, after the matching rules of `schemas/query.ts`. The clauses of a
 * field depend on its type, since OpenSearch fails a whole search for a word asked of a number: indices that type the
 * fields of a query differently are therefore searched apart (`search.ts`).
 */
import { at } from '../../../../core/at.js';
import type { QueryNode, RangeEnd } from '../../../../schemas/query.js';
import { standardFields, tooLongNote } from '../../../../schemas/index-fields.js';
import { lowerCase, textFields, wordsOf } from '../../../../schemas/words.js';
import type { FieldType } from '../../contract.js';
import { luceneExpression } from './regex.js';

export type Clause = Readonly<Record<string, unknown>>;
/** The type of a field in the indices searched; undefined where no document has it. */
export type TypeOf = (field: string) => FieldType | undefined;

/** Fields that a clause without a field looks into. */
const defaultFields = ['message', 'full_message', 'source'];
const matchNone: Clause = { match_none: {} };
const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

export function compileQuery(node: QueryNode, typeOf: TypeOf): Clause {
  switch (node.kind) {
    case 'all':
      return { match_all: {} };
    case 'none':
      return matchNone;
    case 'and':
      return node.children.length === 0
        ? { match_all: {} }
        : { bool: { filter: node.children.map((child) => compileQuery(child, typeOf)) } };
    case 'or': {
      const members = membersOf(node.children);
      return members === undefined
        ? anyOf(node.children.map((child) => compileQuery(child, typeOf)))
        : { terms: members };
    }
    case 'not':
      return { bool: { must_not: [compileQuery(node.child, typeOf)] } };
    case 'term':
    case 'phrase':
      return eachField(node.field, (field) => equality(field, node.text, typeOf(field)));
    case 'wildcard':
      return eachField(node.field, (field) => wildcard(field, node.pattern, typeOf(field)));
    case 'regex':
      return eachField(node.field, (field) => regex(field, node.pattern, typeOf(field)));
    case 'range':
      return range(node.field, node.from, node.to, typeOf(node.field));
    case 'exists':
      return exists(node.field);
  }
}

/**
 * One clause for all the streams that somebody may read: the engine counts clauses, and there may be more of them than
 * it takes.
 */
function membersOf(nodes: readonly QueryNode[]): Readonly<Record<string, readonly string[]>> | undefined {
  const ids = nodes.flatMap((node) => (node.kind === 'term' && node.field === 'streams' ? [node.text] : []));
  return nodes.length > 0 && ids.length === nodes.length ? { streams: ids } : undefined;
}

/** The fields whose type a query needs to know. */
export function typedFields(node: QueryNode, found: Set<string> = new Set()): Set<string> {
  if (node.kind === 'and' || node.kind === 'or') for (const child of node.children) typedFields(child, found);
  else if (node.kind === 'not') typedFields(node.child, found);
  else if ('field' in node && node.field !== undefined && node.kind !== 'exists' && !standardFields.has(node.field))
    found.add(node.field);
  return found;
}

function anyOf(clauses: readonly Clause[]): Clause {
  const able = clauses.filter((clause) => clause !== matchNone);
  if (able.length === 0) return matchNone;
  return able.length === 1 ? at(able, 0) : { bool: { should: able, minimum_should_match: 1 } };
}

function eachField(field: string | undefined, clause: (field: string) => Clause): Clause {
  return field === undefined ? anyOf(defaultFields.map(clause)) : clause(field);
}

/**
 * A field past the limit of an index is kept as `name=value` in `other_fields`
 * (`sinks/index-sets/mapping-coercion.ts`).
 */
function withOthers(field: string, clause: Clause, other: Clause): Clause {
  return standardFields.has(field) ? clause : anyOf([clause, other]);
}

function equality(field: string, text: string, type: FieldType | undefined): Clause {
  if (textFields.has(field)) return phrase(field, text);
  const other = { term: { other_fields: `${field}=${text}` } };
  switch (type) {
    case 'number':
      return withOthers(
        field,
        decimal.test(text) && Number.isFinite(Number(text)) ? { term: { [field]: Number(text) } } : matchNone,
        other,
      );
    case 'time':
      return timeEquality(field, text);
    default:
      return withOthers(field, { term: { [field]: field === 'source' ? lowerCase(text) : text } }, other);
  }
}

/** Words are cut here, so that both stores agree to the letter; the analyzer finds the same ones again. */
function phrase(field: string, text: string): Clause {
  const words = wordsOf(text);
  if (words.length === 0) return matchNone;
  return words.length === 1 ? { term: { [field]: words[0] } } : { match_phrase: { [field]: words.join(' ') } };
}

function timeEquality(field: string, text: string): Clause {
  const time = Date.parse(text);
  return Number.isNaN(time) || new Date(time).toISOString() !== text ? matchNone : { term: { [field]: time } };
}

function wildcard(field: string, pattern: string, type: FieldType | undefined): Clause {
  const escaped = pattern.replace(/\\/g, '\\\\');
  if (textFields.has(field) || field === 'source') return { wildcard: { [field]: { value: lowerCase(escaped) } } };
  const own =
    type === 'number' || type === 'time' || type === 'boolean'
      ? matchNone
      : { wildcard: { [field]: { value: escaped } } };
  return withOthers(field, own, { wildcard: { other_fields: { value: `${escapeWildcard(field)}=${escaped}` } } });
}

function escapeWildcard(text: string): string {
  return text.replace(/[\\*?]/g, '\\$&');
}

function regex(field: string, pattern: string, type: FieldType | undefined): Clause {
  const expression = luceneExpression(pattern);
  const clause = (name: string, value: string) => ({
    regexp: { [name]: { value, flags: 'NONE', case_insensitive: expression.anyCase } },
  });
  if (textFields.has(field) || field === 'source') return clause(field, expression.text);
  const own = type === 'number' || type === 'time' || type === 'boolean' ? matchNone : clause(field, expression.text);
  return withOthers(
    field,
    own,
    clause('other_fields', `${luceneExpression(field.replace(/[^\p{L}\p{N}]/gu, '\\$&')).text}=(${expression.text})`),
  );
}

function range(
  field: string,
  from: RangeEnd | undefined,
  to: RangeEnd | undefined,
  type: FieldType | undefined,
): Clause {
  if (textFields.has(field)) return matchNone;
  if (type === 'time') return timeRange(field, from, to);
  const numeric = [from, to].every((end) => end === undefined || typeof end.value === 'number');
  if (numeric) return type === 'number' ? rangeClause(field, { from, to }, (value) => value) : matchNone;
  if (type === 'number' || type === 'boolean') return matchNone;
  return rangeClause(field, { from, to }, (value) => (field === 'source' ? lowerCase(String(value)) : String(value)));
}

function timeRange(field: string, from: RangeEnd | undefined, to: RangeEnd | undefined): Clause {
  const time = (value: string | number) => (typeof value === 'number' ? value : Date.parse(value));
  if ([from, to].some((end) => end !== undefined && Number.isNaN(time(end.value)))) return matchNone;
  return rangeClause(field, { from, to }, time, { format: 'epoch_millis' });
}

function rangeClause(
  field: string,
  { from, to }: { readonly from: RangeEnd | undefined; readonly to: RangeEnd | undefined },
  value: (end: string | number) => string | number,
  more: Clause = {},
): Clause {
  return {
    range: {
      [field]: {
        ...(from === undefined ? {} : { [from.inclusive ? 'gte' : 'gt']: value(from.value) }),
        ...(to === undefined ? {} : { [to.inclusive ? 'lte' : 'lt']: value(to.value) }),
        ...more,
      },
    },
  };
}

function exists(field: string): Clause {
  const own = anyOf([{ exists: { field } }, { term: { adjustments: tooLongNote(field) } }]);
  return withOthers(field, own, { prefix: { other_fields: { value: `${field}=` } } });
}
