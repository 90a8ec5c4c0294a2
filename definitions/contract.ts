/**
 * What other folders see of definitions: what files and people define, what of it is stored, and how it is tried
 * without being stored.
 */
import { isSluiceError } from '../core/errors.js';
import type { RuleSet } from '../rules/contract.js';
import type { ExplainedRule, ExplainedStream, Explanation } from '../rules/engine/explain.js';
import type { LogDocument } from '../schemas/messages.js';
import type { RuleFileObfuscation } from '../schemas/rule-files.js';
import type { ReceiverOptions } from '../schemas/config/receivers.js';
import type { ObjectKind, RuleKind, Settings, StoredDefinition, StoredDefinitions } from './stored.js';

export { sectionId } from './stored.js';
export type { StoredDefinition, StoredDefinitions } from './stored.js';

/** One definition as people see it. */
export interface CatalogItem {
  readonly id: string;
  /** As in a rule file, over all files and the API. */
  readonly settings: Settings;
  /** `shipped` may be changed through the API, `file` may not. */
  readonly origin: 'shipped' | 'file' | 'api';
  /** Of origin `file`: the last file that says something of it. */
  readonly file: string | undefined;
  readonly stored: StoredDefinition | undefined;
  /** A rule that comes of another definition, such as a pipeline, and is changed there. */
  readonly derived: boolean;
  /** Why it is left out of the rules. */
  readonly problem: string | undefined;
}

/** All definitions of files, of what ships and of the API together, each with its origin. */
export interface Catalog {
  readonly version: string;
  list(kind: RuleKind): readonly CatalogItem[];
  /** By id or the API's form of it. */
  find(kind: RuleKind, name: string): CatalogItem | undefined;
  readonly obfuscation: RuleFileObfuscation;
}

/** A receiver that somebody made through the API. */
export interface RuntimeReceiver {
  readonly id: string;
  readonly title: string;
  /** False: stopped by somebody. */
  readonly enabled: boolean;
  readonly options: ReceiverOptions;
}

/** One mistake in what somebody wants to store. */
export interface FieldProblem {
  /** `rules[0].value`; empty: the definition as a whole. */
  readonly field: string;
  readonly message: string;
}

/** Of an error OBJECT_INVALID; empty for any other one. */
export function fieldProblemsOf(error: unknown): readonly FieldProblem[] {
  if (!isSluiceError(error) || error.code !== 'OBJECT_INVALID') return [];
  return (error.cause as { readonly problems?: readonly FieldProblem[] } | undefined)?.problems ?? [];
}

/** What somebody wants to be stored. */
export interface WantedDefinition {
  readonly definition: Settings;
  /** Secrets to store from now on. Undefined: those of before. `{}`: none. */
  readonly secrets?: Readonly<Record<string, string>> | undefined;
  /** Id of the user who may read and edit a new stream; ignored for one that exists. */
  readonly ownerId?: string | undefined;
}

/**
 * Changes what is stored. Each change is checked with everything else before it is stored: rejects with OBJECT_INVALID,
 * OBJECT_LIMIT or OBJECT_CONFLICT, and then nothing is stored.
 */
export interface DefinitionWriter {
  find(kind: ObjectKind, id: string): StoredDefinition | undefined;
  /** A definition of this kind has, or had, this id. */
  wasUsed(kind: ObjectKind, id: string): boolean;
  /** Rejects with OBJECT_EXISTS too. */
  create(kind: ObjectKind, id: string, wanted: WantedDefinition, by: string): Promise<StoredDefinition>;
  /** Makes it when it does not exist: of what ships, only changes are stored. */
  change(
    kind: ObjectKind,
    id: string,
    change: (before: StoredDefinition | undefined) => WantedDefinition,
    by: string,
  ): Promise<StoredDefinition>;
  /** Rejects with OBJECT_UNKNOWN too. */
  remove(kind: ObjectKind, id: string, by: string): Promise<void>;
  /** Reads what the state has now. */
  refresh(): Promise<void>;
}

/** All definitions of files and of the state, as people see and change them. */
export interface Definitions {
  /** Throws OBJECTS_UNAVAILABLE in a process without a shared state. */
  writer(): DefinitionWriter;
  stored(): StoredDefinitions;
  catalog(): Promise<Catalog>;
  /** What the files alone say of it. */
  obfuscationOfFiles(): Promise<RuleFileObfuscation>;
  /** Stored definitions of a kind that do not fit the rules at the moment. */
  leftOut(kind: ObjectKind): StoredDefinitions;
  /** The rules as they would be with this definition; nothing is stored. Throws OBJECT_INVALID. */
  rulesWith(kind: RuleKind, definition: Settings): Promise<RuleSet>;
  /** Receivers that people made through the API. */
  receivers(): readonly RuntimeReceiver[];
}

/** How a condition of a stream judged a message. */
export type StreamVerdict = NonNullable<ExplainedStream['condition']>;

/** What one message met. */
export interface MessageDryRun {
  readonly document: LogDocument;
  readonly explanation: Explanation;
  readonly stream: (id: string) => ExplainedStream | undefined;
  readonly rule: (id: string) => ExplainedRule | undefined;
}

/** Whether a stored document fulfils a condition. */
export type Matcher = (document: LogDocument, id: string) => boolean;

/** A text with what the obfuscation finds in it. */
export interface TextDryRun {
  /** As it would be stored. */
  readonly text: string;
  /** Every match that no white pattern allows, also where matches overlap. */
  readonly found: readonly FoundText[];
}

export interface FoundText {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Id of the pattern. */
  readonly pattern: string;
}

/** Tries streams, rules and obfuscation without storing anything. */
export interface DryRuns {
  /** Bytes as a sender sends them, or a stored document. Throws the decoder's error. */
  message(rules: RuleSet, message: Buffer, receiver: string): MessageDryRun;
  /** By `when`, or by `rules` and `matching_type`, as a stream has them. Throws OBJECT_INVALID. */
  streamMatcher(condition: Settings): Matcher;
  /** Whether a document goes to a stream of these rules, by its condition or by what routes to it. Counts nothing. */
  memberMatcher(rules: RuleSet, stream: string): Matcher;
  /** Whether obfuscation is switched on makes no difference. */
  obfuscation(text: string, settings: RuleFileObfuscation): TextDryRun;
  /** Why a pattern cannot be used; undefined: it can. */
  patternProblem(pattern: string): string | undefined;
}
