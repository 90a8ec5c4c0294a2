/** What the pipeline knows of the rules. */
import type { FileRole } from '../schemas/access.js';
import type { OutputSettings } from '../schemas/outputs/output.js';
import type { IndexSetDefinition } from '../schemas/index-sets.js';
import type { LogDocument } from '../schemas/messages.js';

/** The text of all rule files, shipped ones first, in the order they apply: kept with each epoch. */
export interface RuleSource {
  readonly files: readonly { readonly name: string; readonly text: string }[];
}

export interface StreamDefinition {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly index_set: string;
  readonly remove_matches_from_default_stream: boolean;
  readonly enabled: boolean;
}

/** Where a message goes. Interned: messages with the same outcome share one object. */
export interface Routing {
  /** Stream ids, sorted. Empty when dropped. */
  readonly streams: readonly string[];
  /** Index sets of these streams, sorted, without repeats. */
  readonly indexSets: readonly string[];
  readonly dropped: boolean;
}

/** Names of fields, each once or more often. A field that was added may be changed or removed afterwards. */
export interface FieldChanges {
  readonly added: string[];
  /** Changed or removed. */
  readonly changed: string[];
}

export interface RuleContext {
  readonly messageId: string;
  readonly receiver: string;
  /** Where given, the rules note in it what they change. */
  readonly changes?: FieldChanges | undefined;
}

export interface RuleCounts {
  /** By rule id. */
  readonly matched: ReadonlyMap<string, number>;
  readonly failed: ReadonlyMap<string, number>;
}

/** A new rule set in force, or why what changed is not used. */
export type RuleSetChange = { readonly ruleSet: RuleSet } | { readonly refused: unknown };

/**
 * The rule set in force in this process. Whoever subscribes is told each change once, in order, and gets the same
 * compiled set.
 */
export interface RuleSetFeed {
  /**
   * Takes what files and stored definitions say now. When it cannot be used, it rejects and the set before stays in
   * force.
   */
  load(): Promise<RuleSet>;
  /** `known`: what the subscriber has. When another one is in force already, it is told at once. */
  subscribe(known: RuleSet, onChange: (change: RuleSetChange) => void): () => void;
}

export interface RuleSet {
  /** First 12 hexadecimal characters of the SHA-256 of the source. */
  readonly version: string;
  readonly source: RuleSource;
  readonly streams: readonly StreamDefinition[];
  readonly indexSets: readonly IndexSetDefinition[];
  readonly outputs?: readonly OutputSettings[];
  readonly roles?: readonly FileRole[];
  /**
   * Runs all rules over the document, changing it in place (obfuscation included), and says where it goes. It never
   * throws: a rule that does costs that rule for that message and a count.
   */
  apply(document: LogDocument, context: RuleContext): Routing;
  /** Counts since the last call. */
  takeCounts(): RuleCounts;
}
