/** What other folders see of the translation of Graylog's pipelines, extractors and grok patterns. */
import { isSluiceError } from '../../core/errors.js';
import type { Settings, StoredDefinition, StoredDefinitions } from '../stored.js';
import type { GrokTable } from './grok-patterns.js';

export type { GrokTable } from './grok-patterns.js';

/**
 * Characters of one pipeline rule or pipeline. Longer ones are not written by people, and one is stored with its
 * translation in 64 KiB.
 */
export const longestText = 20_000;
/** The stream whose pipelines run first; it takes every message. */
export const defaultStream = 'all-messages';

/** In a text, from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface TextProblem extends Position {
  readonly message: string;
}

/** Of an error OBJECT_TEXT_INVALID; empty for any other one. */
export function textProblemsOf(error: unknown): readonly TextProblem[] {
  if (!isSluiceError(error) || error.code !== 'OBJECT_TEXT_INVALID') return [];
  return (error.cause as { readonly problems?: readonly TextProblem[] } | undefined)?.problems ?? [];
}

/** What names in a rule can mean. */
export interface KnownNames {
  readonly streams: readonly { readonly id: string; readonly title: string }[];
  readonly receivers: readonly { readonly id: string; readonly title: string }[];
}

export interface TranslatedRule {
  readonly name: string;
  readonly when: Settings;
  /** May be empty: then the rule only decides whether the next stage runs. */
  readonly then: readonly Settings[];
}

export interface Stage {
  readonly stage: number;
  readonly match: 'all' | 'either' | 'pass';
  /** Names of rules. */
  readonly rules: readonly string[];
}

/** Of a stored pipeline. */
export const stagesOf = ({ definition }: Pick<StoredDefinition, 'definition'>): readonly Stage[] =>
  (definition['stages'] as readonly Stage[] | undefined) ?? [];
/** Of a stored connection. */
export const pipelineIdsOf = ({ definition }: Pick<StoredDefinition, 'definition'>): readonly string[] =>
  (definition['pipelines'] as readonly string[] | undefined) ?? [];
/** Of a stored pipeline or pipeline rule. */
export function titleOf({ definition, id }: Pick<StoredDefinition, 'definition' | 'id'>): string {
  const { title } = definition;
  return typeof title === 'string' && title !== '' ? title : id;
}

/** A rule that comes of another stored definition. */
export interface DerivedRule {
  readonly rule: Settings;
  readonly of: StoredDefinition;
}

/** A pipeline as its text says it. */
export interface ReadPipeline {
  readonly title: string;
  readonly stages: readonly Stage[];
}

interface PipelineTranslator {
  /** Throws OBJECT_TEXT_INVALID with everything that is wrong. */
  translateRule(source: string, known: KnownNames): TranslatedRule;
  /** Throws OBJECT_TEXT_INVALID; also when it names a rule that is none of these titles. */
  readPipeline(source: string, ruleTitles: ReadonlySet<string>): ReadPipeline;
  /** What all connected pipelines come to, in the order they run. */
  rulesOf(stored: StoredDefinitions): readonly DerivedRule[];
}

/** What is done with a value that an extractor found, before it is written. */
export interface Converter {
  readonly type: string;
  readonly config: Settings;
}

/** An extractor as Graylog has it. */
export interface ExtractorSettings {
  /** Id of the receiver. */
  readonly input: string;
  readonly type: string;
  readonly source: string;
  readonly target: string;
  readonly strategy: string;
  readonly config: Settings;
  readonly converters: readonly Converter[];
  readonly conditionType: string;
  readonly conditionValue: string;
}

interface ExtractorTranslator {
  /** In the order they run. */
  list(stored: StoredDefinitions): readonly StoredDefinition[];
  /** Throws OBJECT_INVALID. */
  translate(settings: ExtractorSettings): { readonly when: Settings; readonly then: readonly Settings[] };
}

interface GrokPatterns {
  /** How many may be stored. */
  readonly max: number;
  /** By name, as they were given. */
  table(stored: StoredDefinitions): GrokTable;
  /** Why a pattern is not used as it is; undefined: it is. */
  problem(name: string, table: GrokTable): string | undefined;
  /** No dialect of regular expressions would read it. */
  isBroken(pattern: string): boolean;
  /** What a pattern finds in a text, by field. Throws OBJECT_INVALID. */
  dryRun(pattern: string, text: string, table: GrokTable): Readonly<Record<string, unknown>>;
  /** Actions with the stored patterns that they refer to. */
  inActions(actions: readonly Settings[], table: GrokTable): readonly Settings[];
}

export interface GraylogTranslators {
  readonly pipelines: PipelineTranslator;
  readonly extractors: ExtractorTranslator;
  readonly grok: GrokPatterns;
}
