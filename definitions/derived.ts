/** Rules that come of other objects: extractors before all others, as a receiver's own; pipelines behind all others. */
import { extractorRules } from './graylog/extractors/rules.js';
import { grokTable, withGrokPatterns } from './graylog/grok-patterns.js';
import type { StoredDefinition, StoredDefinitions, Settings } from './stored.js';
import type { DerivedRule } from './graylog/contract.js';
import { pipelineRules } from './graylog/pipelines.js';

interface DerivedFile {
  readonly name: string;
  readonly rules: readonly Settings[];
}

export const extractorsFile = 'api/extractors.yaml';
const sources: Readonly<Record<string, (stored: StoredDefinitions) => readonly DerivedRule[]>> = {
  [extractorsFile]: extractorRules,
  'api/pipelines.yaml': pipelineRules,
};

export function derivedFiles(stored: StoredDefinitions): readonly DerivedFile[] {
  const table = grokTable(stored);
  return Object.entries(sources).map(([name, rulesOf]) => ({
    name,
    rules: rulesOf(stored).map(({ rule }) => ({
      ...rule,
      then: withGrokPatterns(rule['then'] as readonly Settings[], table),
    })),
  }));
}

export const isDerivedFile = (name: string): boolean => Object.hasOwn(sources, name);

/** What a rule of such a file comes of. */
export function sourceOf(file: string, place: number, stored: StoredDefinitions): StoredDefinition | undefined {
  return sources[file]?.(stored)[place]?.of;
}
