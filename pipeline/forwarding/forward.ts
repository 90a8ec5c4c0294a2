/**
 * From routed messages to the topics of outputs. It is part of a batch's delivery, before its offset is committed: at
 * least once, in the order of the topic logs. The messages of an output wait nowhere else, so a destination that is
 * away holds nothing but its own topic.
 */
import type { BuiltMetrics } from '../../core/metrics.js';
import { createRateLimit, type Log } from '../../core/log.js';
import type { FieldChanges, RuleSet, Routing } from '../../rules/contract.js';
import { auditStream } from '../../schemas/access.js';
import type { LogDocument } from '../../schemas/messages.js';
import type { OutputSettings } from '../../schemas/outputs/output.js';
import type { TopicLog, TopicRecord, TopicSpec } from '../../topics/contract.js';
import type { Limits } from './limits.js';
import type { outputMetrics } from './metrics.js';
import { modifiedGelf, type SenderText } from './modified.js';
import { pipelineEvents } from '../events.js';

/** Records by output id. */
export type Forwards = Map<string, TopicRecord[]>;

/** Collects what one rule set sends to its outputs. */
export interface ForwardCollector {
  /** What the rules change in the message at hand; they note it here. */
  readonly changes: FieldChanges;
  /** Before the rules run over the next message. */
  begin(): void;
  /** Ids of the outputs that take messages of this routing; empty for none. */
  outputsOf(routing: Routing): readonly string[];
  /** Adds the message as the rules left it. */
  add(outputs: readonly string[], record: TopicRecord, document: LogDocument, message: SenderText): void;
}

export interface Forwarder {
  /** For the messages of one span. Undefined when the rule set has no outputs. */
  collectorOf(rules: RuleSet, forwards: Forwards): ForwardCollector | undefined;
  /** Resolves when all is durable in the topics. */
  deliver(forwards: Forwards): Promise<void>;
}

interface ForwarderOptions {
  readonly topics: TopicLog;
  readonly specOf: (output: OutputSettings) => TopicSpec;
  readonly limits: Limits;
  readonly metrics: BuiltMetrics<typeof outputMetrics>;
  readonly log: Log;
}

const none: readonly string[] = [];

/** The outputs of one rule set that take messages. */
interface RuleSetOutputs {
  readonly outputs: readonly OutputSettings[];
  /** Ids by routing. */
  readonly byRouting: WeakMap<Routing, readonly string[]>;
}

export function createForwarder(options: ForwarderOptions): Forwarder {
  const ofRuleSet = new WeakMap<RuleSet, RuleSetOutputs>();
  const topicOutputs = new Map<string, OutputTopic>();
  const append = createAppender(options);
  const appendTo = async (id: string, records: readonly TopicRecord[]): Promise<void> => {
    const topic = topicOutputs.get(id);
    if (topic === undefined) throw new TypeError(`output ${id} was never routed to`);
    await append(topic, records);
  };
  return {
    collectorOf(rules, forwards) {
      let found = ofRuleSet.get(rules);
      if (found === undefined) {
        const outputs = (rules.outputs ?? []).filter(({ enabled, streams }) => enabled && streams.length > 0);
        for (const output of outputs) topicOutputs.set(output.id, { output, spec: options.specOf(output) });
        found = { outputs, byRouting: new WeakMap() };
        ofRuleSet.set(rules, found);
      }
      return found.outputs.length === 0 ? undefined : createCollector(found, forwards);
    },
    async deliver(forwards) {
      if (forwards.size === 0) return;
      const settled = await Promise.allSettled([...forwards].map(([id, records]) => appendTo(id, records)));
      const failed = settled.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
  };
}

function createCollector(ruleSet: RuleSetOutputs, forwards: Forwards): ForwardCollector {
  const changes: FieldChanges = { added: [], changed: [] };
  return {
    changes,
    begin() {
      changes.added.length = 0;
      changes.changed.length = 0;
    },
    outputsOf(routing) {
      let found = ruleSet.byRouting.get(routing);
      if (found === undefined) {
        found = takersOf(ruleSet.outputs, routing);
        ruleSet.byRouting.set(routing, found);
      }
      return found;
    },
    add(outputs, { key, value: original, timestamp, origin }, document, message) {
      const isChanged = changes.added.length + changes.changed.length > 0;
      const value = isChanged ? (modifiedGelf(message, document, changes) ?? original) : original;
      for (const id of outputs) {
        const records = forwards.get(id);
        const forwarded = { key, value, timestamp, origin };
        if (records === undefined) forwards.set(id, [forwarded]);
        else records.push(forwarded);
      }
    },
  };
}

/**
 * The audit leaves by outputs of its own stream alone: whoever makes a stream that takes everything does not get it
 * with that.
 */
function takersOf(outputs: readonly OutputSettings[], routing: Routing): readonly string[] {
  const open = routing.streams.includes(auditStream) ? [auditStream] : routing.streams;
  const takers = outputs.filter(({ streams }) => streams.some((stream) => open.includes(stream)));
  return takers.length === 0 ? none : takers.map(({ id }) => id);
}

interface OutputTopic {
  readonly output: OutputSettings;
  readonly spec: TopicSpec;
}

/** Appends to the topic of an output what the limits let pass, and counts the rest. */
function createAppender({
  topics,
  metrics,
  log,
  limits,
}: ForwarderOptions): (topic: OutputTopic, records: readonly TopicRecord[]) => Promise<void> {
  const ready = new Map<string, Promise<void>>();
  const mayLog = createRateLimit(6);

  const drop = (output: string, reason: string, messages: number): void => {
    metrics.dropped.inc({ output, reason }, messages);
    const { allowed, suppressed } = mayLog(`${output} ${reason}`);
    if (allowed) pipelineEvents.outputMessagesDropped(log, { output, reason, messages, suppressed });
  };

  /** The first message for an output makes its topic. */
  const ensure = (spec: TopicSpec): Promise<void> => {
    const before = ready.get(spec.name);
    if (before !== undefined) return before;
    const made = topics.ensureTopics([spec]).then(
      () => undefined,
      (error: unknown) => {
        ready.delete(spec.name);
        throw error;
      },
    );
    ready.set(spec.name, made);
    return made;
  };

  return async ({ output, spec }: OutputTopic, records: readonly TopicRecord[]): Promise<void> => {
    const { id } = output;
    const refusal = limits.refusal(output);
    if (refusal !== undefined) return drop(id, refusal, records.length);
    const fitting = records.filter((record) => record.value.length <= spec.maxMessageBytes);
    if (fitting.length < records.length) drop(id, 'too_large', records.length - fitting.length);
    if (fitting.length === 0) return;
    await ensure(spec);
    await topics.append(spec.name, 0, fitting);
    metrics.forwarded.inc({ output: id }, fitting.length);
    const bytes = fitting.reduce((sum, { value }) => sum + value.length, 0);
    limits.appended(id, fitting.length, bytes);
  };
}
