/** Settings and mapping of an index in OpenSearch. */
import { maxIndexedLength, standardFields } from '../../../schemas/index-fields.js';
import { maxWordLength } from '../../../schemas/words.js';
import { formatVersions } from '../../../core/formats/versions.js';
import { stampOf } from '../../../core/formats/stamp.js';
import type { FieldType, IndexOptions } from '../contract.js';

/** The message id once more, as a sortable column: sorting by `_id` itself loads every id into the heap. */
export const idField = '_message_id';
/** Marks a hidden document (protocol rule 10). */
export const tombstoneField = '_stub';

/**
 * Fields beyond the limit of mapping coercion that still fit: several processors may each add a field before they see
 * each other's.
 */
const fieldMargin = 200;
/** The tokenizer splits longer runs; the filter then cuts each word at its length. */
const longestRun = 1_048_576;

/**
 * The group `whitespace` lacks the no-break spaces; control characters belong to no group. Checked against
 * `schemas/words.ts` for every code point of the first two planes.
 */
function separators(): string[] {
  const controls = Array.from({ length: 32 }, (_, code) => code).concat(
    Array.from({ length: 33 }, (_, code) => 127 + code),
  );
  return [
    'whitespace',
    'punctuation',
    'symbol',
    ...[...controls, 0xa0, 0x2007, 0x202f].map((code) => String.fromCharCode(code)),
  ];
}

const analysis = {
  tokenizer: { words: { type: 'char_group', tokenize_on_chars: separators(), max_token_length: longestRun } },
  filter: { word_length: { type: 'truncate', length: maxWordLength } },
  analyzer: { words: { type: 'custom', tokenizer: 'words', filter: ['lowercase', 'word_length'] } },
  normalizer: { any_case: { type: 'custom', filter: ['lowercase'] } },
};

const keyword = { type: 'keyword', ignore_above: maxIndexedLength };
const mappings: Readonly<Record<FieldType, object>> = {
  /**
   * With positions: phrases are answered from the index. Measured beside match_only_text: the same time, 7 bytes more a
   * document.
   */
  text: { type: 'text', analyzer: 'words', norms: false },
  string: keyword,
  number: { type: 'double' },
  boolean: keyword,
  time: { type: 'date', format: 'strict_date_optional_time||epoch_millis' },
};

function properties(): Record<string, object> {
  const fields = Object.fromEntries(Array.from(standardFields, ([name, type]) => [name, mappings[type]]));
  return {
    ...fields,
    source: { ...keyword, normalizer: 'any_case' },
    [idField]: { type: 'keyword', index: false },
    [tombstoneField]: { type: 'boolean' },
  };
}

export interface IndexLimits {
  readonly maxFields: number;
  /**
   * Whether a dot in a name is a character like any other (`disable_objects`). Otherwise `a` beside `a.b` is a
   * conflict, which the engine refuses and coercion repairs.
   */
  readonly flatNames: boolean;
}

export function indexBody(name: string, options: IndexOptions, { maxFields, flatNames }: IndexLimits): object {
  return {
    settings: {
      number_of_shards: options.shards,
      number_of_replicas: options.replicas,
      refresh_interval: `${options.refreshIntervalMs}ms`,
      // Sizes are told as of this long ago (10 s unless set), which at full rate is a fifth of a gigabyte: too old to
      // rotate by.
      'store.stats_refresh_interval': '500ms',
      'translog.durability': 'request',
      'mapping.total_fields.limit': maxFields + fieldMargin,
      analysis,
    },
    mappings: {
      _meta: { sluice: stampOf(formatVersions.searchIndex) },
      ...(flatNames ? { disable_objects: true } : {}),
      date_detection: false,
      numeric_detection: false,
      dynamic_templates: [
        { strings: { match_mapping_type: 'string', mapping: keyword } },
        { whole_numbers: { match_mapping_type: 'long', mapping: { type: 'double' } } },
        { numbers: { match_mapping_type: 'double', mapping: { type: 'double' } } },
        { booleans: { match_mapping_type: 'boolean', mapping: { ...keyword, meta: { first: 'boolean' } } } },
      ],
      properties: properties(),
    },
    aliases: { [options.alias]: {}, [writeAlias(name)]: {} },
  };
}

/**
 * A name that exists only as long as its index does. Bulks go there with `require_alias`, so that a late one can never
 * create a deleted index again, whatever the cluster's setting of automatic creation.
 */
export function writeAlias(index: string): string {
  return `only-${index}`;
}

const typeNames: Readonly<Record<string, FieldType>> = {
  text: 'text',
  match_only_text: 'text',
  keyword: 'string',
  double: 'number',
  date: 'time',
};

export interface MappedField {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, MappedField>>;
  readonly meta?: { readonly first?: string };
}

function fieldTypeOf(field: MappedField): FieldType {
  if (field.meta?.first === 'boolean') return 'boolean';
  return typeNames[field.type ?? ''] ?? 'string';
}

/** Types by whole name: where names are not flat the mapping is a tree. */
export function flatTypes(
  properties: Readonly<Record<string, MappedField>>,
  prefix = '',
  found: Map<string, FieldType> = new Map(),
): Map<string, FieldType> {
  for (const [name, field] of Object.entries(properties)) {
    if (field.properties !== undefined) flatTypes(field.properties, `${prefix}${name}.`, found);
    else if (name !== idField && name !== tombstoneField) found.set(`${prefix}${name}`, fieldTypeOf(field));
  }
  return found;
}
