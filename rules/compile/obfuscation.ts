/**
 * The section `obfuscation` of the rule files, joined over the files: lists of patterns by id, other settings by key.
 */
import type { RuleFileObfuscation } from '../../schemas/rule-files.js';
import type { Obfuscator, SensitivePattern } from '../obfuscation.js';
import type { ParsedFile } from '../language/parse.js';
import { compilePattern, type Pattern } from '../pattern.js';
import { createPlace, didYouMean, shown, type Place, type Problem } from '../problems.js';
import type { CompiledObfuscation } from '../engine/program.js';

type PatternSettings = NonNullable<RuleFileObfuscation['patterns']>[number];

interface Located<T> {
  readonly value: T;
  readonly place: Place;
}

export interface ObfuscationSettings {
  readonly compiled: CompiledObfuscation;
  /** For the action: patterns of these ids (undefined: all) and another replacement. */
  readonly select: (ids: readonly string[] | undefined, replacement: string | undefined, place: Place) => Obfuscator;
}

const eightStars = '********';

export function buildObfuscation(
  files: readonly ParsedFile[],
  streams: readonly string[],
  problems: Problem[],
): ObfuscationSettings {
  const sections = files.map((file) => ({
    value: file.data.obfuscation,
    place: createPlace(file, ['obfuscation'], problems),
  }));
  const last = <Key extends keyof RuleFileObfuscation>(key: Key): Located<RuleFileObfuscation[Key]> | undefined => {
    const found = sections.findLast(({ value }) => value?.[key] !== undefined);
    return found === undefined
      ? undefined
      : { value: found.value?.[key] as RuleFileObfuscation[Key], place: found.place.at(key) };
  };
  const named = last('streams');
  for (const [index, id] of (named?.value ?? []).entries()) {
    if (!streams.includes(id))
      named?.place.at(index).report('There is no stream of this id.', {
        got: shown(id),
        allowed: streams.join(', '),
        suggestion: didYouMean(id, streams),
        confidential: true,
      });
  }
  const patterns = compileAll(joinPatterns(sections, 'patterns'));
  const white = compileAll(joinPatterns(sections, 'white_patterns')).map(({ pattern }) => pattern);
  const replacement = last('replacement')?.value ?? eightStars;
  const obfuscator: Obfuscator = {
    patterns: patterns.map(({ pattern, importance }) => ({ pattern, importance })),
    white,
    replacement,
  };
  return {
    compiled: {
      enabled: last('enabled')?.value ?? false,
      fields: last('fields')?.value ?? [],
      streams: named?.value ?? [],
      obfuscator,
    },
    select: (ids, other, place) => ({
      patterns: selected(patterns, ids, place),
      white,
      replacement: other ?? replacement,
    }),
  };
}

type Named = SensitivePattern & { readonly id: string };

function selected(
  patterns: readonly Named[],
  ids: readonly string[] | undefined,
  place: Place,
): readonly SensitivePattern[] {
  const known = patterns.map(({ id }) => id);
  for (const [index, id] of (ids ?? []).entries()) {
    if (!known.includes(id))
      place.at(index).report('There is no obfuscation pattern of this id.', {
        got: shown(id),
        allowed: known.join(', '),
        suggestion: didYouMean(id, known),
      });
  }
  return ids === undefined ? patterns : patterns.filter(({ id }) => ids.includes(id));
}

function joinPatterns(
  sections: readonly Located<RuleFileObfuscation | undefined>[],
  key: 'patterns' | 'white_patterns',
): readonly Located<PatternSettings>[] {
  const byId = new Map<string, Located<PatternSettings>>();
  for (const { value, place } of sections) {
    for (const [index, item] of (value?.[key] ?? []).entries())
      byId.set(item.id, { value: { ...byId.get(item.id)?.value, ...item }, place: place.at(key, index) });
  }
  return [...byId.values()];
}

function compileAll(items: readonly Located<PatternSettings>[]): readonly Named[] {
  const compiled: Named[] = [];
  for (const { value, place } of items) {
    if (value.enabled === false) continue;
    const pattern = compileOne(value, place);
    if (pattern !== undefined) compiled.push({ id: value.id, pattern, importance: value.importance ?? 1 });
  }
  return compiled;
}

function compileOne({ pattern }: PatternSettings, place: Place): Pattern | undefined {
  if (pattern === undefined) {
    place.report('The key `pattern` is missing.');
    return undefined;
  }
  const compiled = compilePattern(pattern);
  if (!('error' in compiled)) return compiled;
  place.at('pattern').report(`The pattern cannot be compiled: ${compiled.error}.`, {
    got: shown(pattern),
    allowed: 'RE2 syntax, without look-around and back-references',
  });
  return undefined;
}
