/**
 * The definitions of rule files for people to read: joined over the files, as they were written, with the files that
 * they stand in.
 */
import type { RuleFileObfuscation } from '../../schemas/rule-files.js';
import type { RuleSource } from '../contract.js';
import { joinDefinitions, type Listed } from './join.js';
import { parseRuleFiles, type ParsedFile } from './parse.js';
import type { Problem } from '../problems.js';

export interface Described {
  readonly id: string;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Names, in the order they apply; the last one has the last word on the settings it names. */
  readonly files: readonly string[];
}

export interface Description extends Readonly<Record<Listed, readonly Described[]>> {
  /** The section of all files together. */
  readonly obfuscation: RuleFileObfuscation;
}

/** Undefined when a file cannot be read as a rule file. */
export function describeRules(source: RuleSource): Description | undefined {
  const problems: Problem[] = [];
  const files = parseRuleFiles(source, problems);
  if (problems.length > 0) return undefined;
  const described = (list: Listed): readonly Described[] => {
    const places = filesById(list, files);
    return joinDefinitions(list, files, problems).map(({ id, settings }) => ({
      id,
      settings: { ...settings },
      files: places.get(id) ?? [],
    }));
  };
  return {
    rules: described('rules'),
    streams: described('streams'),
    index_sets: described('index_sets'),
    outputs: described('outputs'),
    roles: described('roles'),
    obfuscation: obfuscationOf(files),
  };
}

function filesById(list: Listed, files: readonly ParsedFile[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const { name, data } of files) {
    for (const { id } of data[list] ?? []) found.set(id, [...(found.get(id) ?? []), name]);
  }
  return found;
}

function obfuscationOf(files: readonly ParsedFile[]): RuleFileObfuscation {
  const sections = files.map(({ data }) => data.obfuscation ?? {});
  const joined = <Key extends 'patterns' | 'white_patterns'>(key: Key): NonNullable<RuleFileObfuscation[Key]> => {
    const byId = new Map<string, object>();
    for (const section of sections)
      for (const item of section[key] ?? []) byId.set(item.id, { ...byId.get(item.id), ...item });
    return [...byId.values()] as NonNullable<RuleFileObfuscation[Key]>;
  };
  return {
    ...(Object.assign({}, ...sections) as RuleFileObfuscation),
    patterns: joined('patterns'),
    white_patterns: joined('white_patterns'),
  };
}
