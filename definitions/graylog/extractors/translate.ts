/**
 * A Graylog extractor → a condition and actions of rule files. What is not supported is refused, by the name of its
 * setting.
 */
import { invalid } from '../../check.js';
import type { FieldProblem } from '../../contract.js';
import type { Settings } from '../../stored.js';
import { grokText, hasNamedGroup, namedGroupProblem } from '../pipeline-rules/grok-text.js';
import { withNamedGroup } from '../pipeline-rules/groups.js';
import { converted } from './converters.js';
import type { ExtractorSettings } from '../contract.js';

/** What is found goes here first, when it is turned into something else before it is written. */
const temporary = 'sluice_extractor_value';
/** More repetitions are refused by the pattern engine. */
const longestRepetition = 1_000;

type Extraction = (settings: ExtractorSettings, to: string) => readonly Settings[];

const types: Readonly<Record<string, Extraction>> = {
  copy_input: copied,
  grok: grokked,
  json: parsed,
  regex: matched,
  regex_replace: replaced,
  split_and_index: split,
  substring: cut,
};

const extractorTypes = Object.keys(types);

/** Types that make fields of their own names. */
const namesItself = new Set(['grok', 'json']);

/** Throws OBJECT_INVALID. */
export function translateExtractor(settings: ExtractorSettings): {
  readonly when: Settings;
  readonly then: readonly Settings[];
} {
  const { type, source, target, strategy, converters } = settings;
  const extract = Object.hasOwn(types, type) ? types[type] : undefined;
  if (extract === undefined)
    throw wrong(
      'extractor_type',
      `Extractors of the type ${type} are not supported. Supported: ${extractorTypes.join(', ')}.`,
    );
  if (strategy !== 'copy')
    throw wrong('cut_or_copy', `Only copy is supported, so that no text is lost; got ${strategy}.`);
  if (source === '') throw wrong('source_field', 'An extractor needs a source field.');
  if (namesItself.has(type)) {
    if (converters.length > 0)
      throw wrong('converters', `Converters of ${type} are not supported: its fields have names of their own.`);
    return { when: conditionOf(settings), then: extract(settings, '') };
  }
  if (target === '') throw wrong('target_field', 'An extractor of this type needs a target field.');
  const isPlain = converters.length === 0 && /^[A-Za-z_][A-Za-z0-9_]*$/.test(target);
  if (isPlain) return { when: conditionOf(settings), then: extract(settings, target) };
  const clean: Settings = { remove: { fields: [temporary] } };
  return {
    when: conditionOf(settings),
    then: [clean, ...extract(settings, temporary), ...converted(converters, temporary, target), clean],
  };
}

function wrong(field: string, message: string): Error {
  return invalid([{ field, message } satisfies FieldProblem]);
}

function conditionOf({ type, input, source, config, conditionType, conditionValue }: ExtractorSettings): Settings {
  // Where its pattern is not found, regex_replace extracts nothing.
  const base: readonly Settings[] = [
    { input },
    type === 'regex_replace'
      ? { field: source, regex: onOneLine(textAt(config, 'regex')) }
      : { field: source, exists: true },
  ];
  if (conditionType === 'none' || conditionType === '') return { all: base };
  if (conditionValue === '') throw wrong('condition_value', 'The condition needs a value.');
  if (conditionType === 'string') return { all: [...base, { field: source, contains: conditionValue }] };
  if (conditionType === 'regex') return { all: [...base, { field: source, regex: onOneLine(conditionValue) }] };
  throw wrong('condition_type', `Got ${conditionType}. Allowed: none, string, regex.`);
}

function textAt(config: Settings, key: string): string {
  const value = config[key];
  if (typeof value !== 'string' || value === '') throw wrong(`extractor_config.${key}`, 'A text is needed here.');
  return value;
}

function numberAt(config: Settings, key: string, least: number): number {
  const given = config[key];
  const value = typeof given === 'number' || typeof given === 'string' ? Number(given) : NaN;
  if (!Number.isInteger(value) || value < least)
    throw wrong(`extractor_config.${key}`, `A whole number from ${least} on is needed here.`);
  return value;
}

function assertOnly(config: Settings, taken: Readonly<Record<string, readonly unknown[]>>): void {
  for (const [key, allowed] of Object.entries(taken)) {
    const value = config[key];
    if (value !== undefined && value !== null && !allowed.includes(value))
      throw wrong(
        `extractor_config.${key}`,
        `Got ${JSON.stringify(value).slice(0, 100)}. Allowed: ${allowed.map((one) => JSON.stringify(one)).join(', ')}.`,
      );
  }
}

/** In Graylog a dot of a pattern does not match line breaks. */
const onOneLine = (pattern: string): string => (pattern.includes('.') ? `(?-s)${pattern}` : pattern);

function copied({ source }: ExtractorSettings, to: string): readonly Settings[] {
  return [{ copy: { from: source, to } }];
}

function parsed({ source, config }: ExtractorSettings): readonly Settings[] {
  assertOnly(config, {
    flatten: [false],
    replace_key_whitespace: [true, false],
    key_whitespace_replacement: ['_', ''],
  });
  const { key_prefix: prefix, key_separator: separator } = config;
  return [
    {
      parse_json: {
        field: source,
        overwrite: true,
        ...(typeof prefix === 'string' && prefix !== '' ? { prefix } : {}),
        ...(typeof separator === 'string' ? { separator } : {}),
      },
    },
  ];
}

function grokked({ source, config }: ExtractorSettings): readonly Settings[] {
  const text = textAt(config, 'grok_pattern');
  if (hasNamedGroup(text)) throw wrong('extractor_config.grok_pattern', namedGroupProblem);
  return [{ grok: { field: source, pattern: grokText(text, { onlyNamed: config['named_captures_only'] === true }) } }];
}

function matched({ source, config }: ExtractorSettings, to: string): readonly Settings[] {
  const pattern = withNamedGroup(onOneLine(textAt(config, 'regex_value')), 0, to);
  if (pattern === undefined)
    throw wrong(
      'extractor_config.regex_value',
      'The pattern needs a group in parentheses: what it finds becomes the field.',
    );
  return [{ regex: { field: source, pattern } }];
}

function replaced({ source, config }: ExtractorSettings, to: string): readonly Settings[] {
  const by = config['replacement'] === undefined || config['replacement'] === null ? '$1' : config['replacement'];
  if (typeof by !== 'string') throw wrong('extractor_config.replacement', 'A text is needed here.');
  return [
    {
      replace: {
        field: source,
        pattern: onOneLine(textAt(config, 'regex')),
        by,
        to,
        all: config['replace_all'] === true,
      },
    },
  ];
}

function cut({ source, config }: ExtractorSettings, to: string): readonly Settings[] {
  const begin = numberAt(config, 'begin_index', 0);
  const end = numberAt(config, 'end_index', 1);
  if (end <= begin) throw wrong('extractor_config.end_index', 'The end comes behind the beginning.');
  if (begin > longestRepetition || end - begin > longestRepetition)
    throw wrong(
      'extractor_config.end_index',
      `At most ${longestRepetition} characters, and ${longestRepetition} before them, are supported.`,
    );
  return [{ regex: { field: source, pattern: `^(?s:.{${begin}})(?P<${to}>(?s:.{${end - begin}}))` } }];
}

/** The first part has the index 1. */
function split({ source, config }: ExtractorSettings, to: string): readonly Settings[] {
  const by = textAt(config, 'split_by').replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const index = numberAt(config, 'index', 1);
  if (index > longestRepetition) throw wrong('extractor_config.index', `At most ${longestRepetition} is supported.`);
  return [{ regex: { field: source, pattern: `^(?s:(?:.*?${by}){${index - 1}}(?P<${to}>.*?))(?:${by}|$)` } }];
}
