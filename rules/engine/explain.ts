/**
 * Why a message goes where it goes: every rule and stream with the verdict of each condition, and what the message
 * became.
 */
import type { LogDocument } from '../../schemas/messages.js';
import type { Condition } from '../conditions/define.js';
import type { RuleContext, Routing, RuleSet } from '../contract.js';
import { createEngine } from './engine.js';
import { fieldReader } from '../fields.js';
import { interpret } from './interpret.js';
import { shown } from '../problems.js';
import { programOf, type CompiledRule, type Program } from './program.js';
import { defaultStream } from '../compile/streams.js';
import { errorText } from '../../core/errors.js';

export interface Verdict {
  /** The condition as a person says it. */
  readonly text: string;
  readonly held: boolean;
  /** What the message has there. */
  readonly found: string | undefined;
  readonly children: readonly Verdict[];
}

export interface Change {
  readonly field: string;
  readonly before: LogDocument[string] | undefined;
  readonly after: LogDocument[string] | undefined;
}

export interface ExplainedRule {
  readonly id: string;
  readonly file: string;
  readonly description: string;
  /** skipped: an earlier rule dropped the message. */
  readonly state: 'matched' | 'not matched' | 'not enabled' | 'failed' | 'skipped';
  readonly error: string | undefined;
  readonly condition: Verdict | undefined;
  readonly actions: readonly string[];
  readonly changes: readonly Change[];
}

export interface ExplainedStream {
  readonly id: string;
  readonly title: string;
  readonly indexSet: string;
  readonly member: boolean;
  readonly reason: string;
  readonly condition: Verdict | undefined;
  /** Ids of rules that route the message to it. */
  readonly routedBy: readonly string[];
}

export interface Explanation {
  readonly version: string;
  readonly routing: Routing;
  readonly before: LogDocument;
  readonly after: LogDocument;
  readonly changes: readonly Change[];
  readonly rules: readonly ExplainedRule[];
  readonly streams: readonly ExplainedStream[];
  /** Whether the section obfuscation applied. */
  readonly obfuscated: boolean;
  /** Of one message through all rules and streams, after warming up; 0 where it was not measured. */
  readonly microseconds: number;
}

interface Noted {
  readonly verdict: Verdict;
  readonly held: boolean;
  readonly error: unknown;
  readonly changes: readonly Change[];
}

/** Does not change the document and counts nothing. Measuring takes up to a fifth of a second. */
export function explain(
  ruleSet: RuleSet,
  document: LogDocument,
  context: RuleContext,
  { measured = true }: { readonly measured?: boolean } = {},
): Explanation {
  const program = programOf(ruleSet);
  const after = { ...document };
  const rules = new Map<string, Noted>();
  const streams = new Map<string, Noted>();
  const routedBy = program.streams.map((): string[] => []);
  let verdict: Verdict = { text: '', held: false, found: undefined, children: [] };
  let snapshot: LogDocument = {};
  const { routing, obfuscated } = interpret(program, after, context, {
    before: ({ condition }) => {
      snapshot = { ...after };
      verdict = verdictOf(condition, after, context);
    },
    after: ({ entry, held, error, streams: routed }) => {
      if (entry.stream < 0) for (const stream of routed) routedBy[stream]?.push(entry.id);
      (entry.stream < 0 ? rules : streams).set(entry.id, { verdict, held, error, changes: changesOf(snapshot, after) });
    },
  });
  return {
    version: program.version,
    routing,
    before: document,
    after,
    changes: changesOf(document, after),
    rules: program.rules.map((rule) => explainRule(rule, rules.get(rule.id))),
    streams: explainStreams(program, routing, streams, routedBy),
    obfuscated,
    microseconds: measured ? measure(program, document, context) : 0,
  };
}

function verdictOf(condition: Condition, document: LogDocument, context: RuleContext): Verdict {
  let held = false;
  try {
    held = condition.test(document, context);
  } catch {
    // The rule itself fails too, and says so.
  }
  return {
    text: condition.text,
    held,
    found: condition.field === undefined ? undefined : foundIn(condition.field, document, context),
    children: condition.children.map((child) => verdictOf(child, document, context)),
  };
}

function foundIn(field: string, document: LogDocument, context: RuleContext): string {
  if (field === 'receiver' && document['receiver'] === undefined) return shown(context.receiver);
  const value = fieldReader(field)(document);
  return value === undefined ? 'missing' : shown(value);
}

function changesOf(before: LogDocument, after: LogDocument): readonly Change[] {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...fields]
    .filter((field) => before[field] !== after[field])
    .map((field) => ({ field, before: before[field], after: after[field] }));
}

function explainRule(
  { id, file, description, enabled, actions }: CompiledRule,
  noted: Noted | undefined,
): ExplainedRule {
  const state = !enabled
    ? 'not enabled'
    : noted === undefined
      ? 'skipped'
      : noted.error !== undefined
        ? 'failed'
        : noted.held
          ? 'matched'
          : 'not matched';
  return {
    id,
    file,
    description,
    state,
    error: noted?.error === undefined ? undefined : errorText(noted.error),
    condition: noted?.verdict,
    actions: actions.map((action) => action.text),
    changes: noted?.changes ?? [],
  };
}

function explainStreams(
  { streams }: Program,
  routing: Routing,
  noted: ReadonlyMap<string, Noted>,
  routedByStream: readonly (readonly string[])[],
): readonly ExplainedStream[] {
  return streams.map(({ definition, onlyWithinDefault }, number) => {
    const { id, title, index_set: indexSet, enabled } = definition;
    const member = routing.streams.includes(id);
    const note = noted.get(id);
    const routedBy = [...new Set(routedByStream[number])];
    return { id, title, indexSet, member, condition: note?.verdict, reason: reasonOf(), routedBy };

    function reasonOf(): string {
      if (!enabled) return 'not enabled';
      if (routing.dropped) return 'the message was dropped';
      if (id === defaultStream)
        return member ? 'no stream takes the message out' : 'a stream that it is in, or a rule, takes it out';
      if (member)
        return note?.held === true
          ? 'its condition holds'
          : `${routedBy.length > 1 ? 'rules route' : 'a rule routes'} to it: ${routedBy.join(', ')}`;
      return onlyWithinDefault && note?.held === true
        ? 'its condition holds, but the message left All messages'
        : 'its condition does not hold';
    }
  });
}

/** Enough runs to warm up, few enough not to be felt. */
const warmUps = 2_000;
const runs = 500;
const measuringMs = 200;

function measure(program: Program, document: LogDocument, context: RuleContext): number {
  const engine = createEngine(program);
  const end = performance.now() + measuringMs;
  for (let run = 0; run < warmUps && performance.now() < end; run += 1) engine.apply({ ...document }, context);
  const copies = Array.from({ length: performance.now() < end ? runs : 1 }, () => ({ ...document }));
  const start = performance.now();
  for (const copy of copies) engine.apply(copy, context);
  return ((performance.now() - start) * 1000) / copies.length;
}
