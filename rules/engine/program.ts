/** Compiled rule files: what the engine, the plain interpreter and the explanations run from. Immutable. */
import type { Action } from '../actions/define.js';
import { createCandidateIndex, type CandidateIndex } from './candidates.js';
import type { Condition } from '../conditions/define.js';
import type { RuleSet, RuleSource, Routing } from '../contract.js';
import type { IndexSetDefinition } from '../../schemas/index-sets.js';
import type { Obfuscator } from '../obfuscation.js';
import { defaultStream, type CompiledStream } from '../compile/streams.js';

export interface CompiledRule {
  readonly id: string;
  readonly file: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly condition: Condition;
  readonly actions: readonly Action[];
}

export interface CompiledObfuscation {
  readonly enabled: boolean;
  readonly fields: readonly string[];
  /** Ids; messages of these streams are searched. */
  readonly streams: readonly string[];
  readonly obfuscator: Obfuscator;
}

/** A rule, or a stream with a condition: all run in one order, streams behind the rules. */
export interface Entry {
  readonly id: string;
  readonly condition: Condition;
  readonly actions: readonly Action[];
  /** Place of the stream; -1 for a rule. */
  readonly stream: number;
}

export interface Program {
  readonly version: string;
  readonly source: RuleSource;
  /** All, in order, with those not enabled. */
  readonly rules: readonly CompiledRule[];
  readonly streams: readonly CompiledStream[];
  readonly indexSets: readonly IndexSetDefinition[];
  readonly obfuscation: CompiledObfuscation;
  readonly entries: readonly Entry[];
  readonly index: CandidateIndex;
}

export interface Outcome {
  readonly routing: Routing;
  readonly obfuscates: boolean;
}

export function createProgram(parts: Omit<Program, 'entries' | 'index'>): Program {
  const entries = entriesOf(parts);
  return { ...parts, entries, index: createCandidateIndex(entries.map((entry) => entry.condition.requirements)) };
}

function entriesOf({ rules, streams }: Pick<Program, 'rules' | 'streams'>): readonly Entry[] {
  const entries: Entry[] = [];
  for (const { id, enabled, condition, actions } of rules)
    if (enabled) entries.push({ id, condition, actions, stream: -1 });
  for (const [stream, { definition, condition }] of streams.entries()) {
    if (definition.enabled && definition.id !== defaultStream)
      entries.push({ id: definition.id, condition, actions: [], stream });
  }
  return entries;
}

export const droppedOutcome: Outcome = { routing: { streams: [], indexSets: [], dropped: true }, obfuscates: false };

/** The number behind those of the streams: routing to it takes the message out of All messages. */
export const leavesDefault = (streams: readonly unknown[]): number => streams.length;

/**
 * Streams that matched → where the message goes. All messages keeps it unless a matching stream or an action removes
 * it; streams that live only within All messages go with it. What no other stream would keep stays, so that every
 * message has at least one index set.
 */
export function outcomeOf({ streams, obfuscation }: Program, matched: ReadonlySet<number>): Outcome {
  const taken = [...matched].flatMap((stream) => streams[stream] ?? []).filter((stream) => stream.definition.enabled);
  const leaves =
    matched.has(leavesDefault(streams)) || taken.some((stream) => stream.definition.remove_matches_from_default_stream);
  const keeping = (stays: boolean): readonly CompiledStream[] =>
    streams.filter((stream) =>
      stream.definition.id === defaultStream ? stays : taken.includes(stream) && (stays || !stream.onlyWithinDefault),
    );
  const left = leaves && !taken.some((stream) => stream.definition.id === defaultStream) ? keeping(false) : [];
  const kept = left.length > 0 ? left : keeping(true);
  const ids = kept.map((stream) => stream.definition.id).sort();
  const indexSets = [...new Set(kept.map((stream) => stream.definition.index_set))].sort();
  return {
    routing: { streams: ids, indexSets, dropped: false },
    obfuscates: obfuscation.enabled && ids.some((id) => obfuscation.streams.includes(id)),
  };
}

const programs = new WeakMap<RuleSet, Program>();

export function rememberProgram(ruleSet: RuleSet, program: Program): RuleSet {
  programs.set(ruleSet, program);
  return ruleSet;
}

/** The program behind a rule set of `compileRules`. */
export function programOf(ruleSet: RuleSet): Program {
  const program = programs.get(ruleSet);
  if (program === undefined) throw new TypeError('This rule set was not made by compileRules.');
  return program;
}
