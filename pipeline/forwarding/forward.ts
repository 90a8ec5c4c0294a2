/**
 * From routed messages to the topics of outputs. It is part of a batch's delivery, before its offset is committed: at least once, in the
 * order of the topic logs. The messages of an output wait nowhere else, so a destination that is away holds nothing but its own topic.
 */
import type { BuiltMetrics } from '../../core/metrics.js';
import { createRateLimit, type Log } from '../../core/log.js';
import type { FieldChanges, RuleSet, Routing } from '../../rules/contract.js';
import { auditStream } from '../../schemas/access.js';
import type { LogDocument } from '../../schemas/messages.js';
import type { OutputSettings } from '../../schemas/outputs.js';
import type { TopicLog, TopicRecord, TopicSpec } from '../../topics/contract.js';
import type { Limits } from './limits.js';
import type { outputMetrics } from './metrics.js';
import { modifiedGelf, type SenderText } from './modified.js';

/** By output id. */
export type Forwards = Map<string, TopicRecord[]>;

/** Collects what one rule set sends to its outputs. */
export interface ForwardLane {
  /** The outputs of messages with this routing; empty for none. */
  outputsOf(routing: Routing): readonly string[];
  add(
    forwards: Forwards,
    outputs: readonly string[],
    record: TopicRecord,
    changes: FieldChanges,
    document: LogDocument,
    message: SenderText,
  ): void;
}

export interface Forwarder {
  /** Undefined when the rule set has no outputs. */
  laneOf(rules: RuleSet): ForwardLane | undefined;
  /** Resolves when all is durable in the topics. */
  deliver(forwards: Forwards): Promise<void>;
}

export interface ForwarderOptions {
  readonly topics: TopicLog;
  readonly specOf: (output: OutputSettings) => TopicSpec;
  readonly limits: Limits;
  readonly metrics: BuiltMetrics<typeof outputMetrics>;
  readonly log: Log;
}

const none: readonly string[] = [];

export function createForwarder(options: ForwarderOptions): Forwarder {
  const { topics, metrics, log } = options;
  const lanes = new WeakMap<RuleSet, ForwardLane | { readonly none: true }>();
  const known = new Map<string, { readonly output: OutputSettings; readonly spec: TopicSpec }>();
  const ready = new Map<string, Promise<void>>();
  const mayLog = createRateLimit(6);

  const drop = (output: string, reason: string, messages: number): void => {
    metrics.dropped.inc({ output, reason }, messages);
    const { allowed, suppressed } = mayLog(`${output} ${reason}`);
    if (allowed) log.error({ output, reason, messages, suppressed }, 'messages for an output are dropped');
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

  const append = async (output: string, records: readonly TopicRecord[]): Promise<void> => {
    const found = known.get(output);
    if (found === undefined) throw new TypeError(`output ${output} was never routed to`);
    const { spec } = found;
    const refusal = options.limits.refusal(found.output);
    if (refusal !== undefined) return drop(output, refusal, records.length);
    const fitting = records.filter((record) => record.value.length <= spec.maxMessageBytes);
    if (fitting.length < records.length) drop(output, 'too_large', records.length - fitting.length);
    if (fitting.length === 0) return;
    await ensure(spec);
    await topics.append(spec.name, 0, fitting);
    metrics.forwarded.inc({ output }, fitting.length);
    options.limits.appended(
      output,
      fitting.length,
      fitting.reduce((sum, { value }) => sum + value.length, 0),
    );
  };

  return {
    laneOf(rules) {
      let lane = lanes.get(rules);
      if (lane === undefined) {
        const outputs = (rules.outputs ?? []).filter(({ enabled, streams }) => enabled && streams.length > 0);
        for (const output of outputs) known.set(output.id, { output, spec: options.specOf(output) });
        lane = outputs.length === 0 ? { none: true } : createLane(outputs);
        lanes.set(rules, lane);
      }
      return 'none' in lane ? undefined : lane;
    },
    async deliver(forwards) {
      if (forwards.size === 0) return;
      const settled = await Promise.allSettled([...forwards].map(([output, records]) => append(output, records)));
      const failed = settled.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
  };
}

function createLane(outputs: readonly OutputSettings[]): ForwardLane {
  const byRouting = new WeakMap<Routing, readonly string[]>();
  return {
    outputsOf(routing) {
      let found = byRouting.get(routing);
      if (found === undefined) {
        // Whoever makes a stream that takes everything, and an output of it, does not get the audit with it: it leaves by outputs of its own stream alone.
        const open = routing.streams.includes(auditStream) ? [auditStream] : routing.streams;
        found = outputs.filter(({ streams }) => streams.some((stream) => open.includes(stream))).map(({ id }) => id);
        if (found.length === 0) found = none;
        byRouting.set(routing, found);
      }
      return found;
    },
    add(forwards, ids, record, changes, document, message) {
      const { key, timestamp, origin } = record;
      const value =
        changes.added.length + changes.changed.length === 0
          ? record.value
          : (modifiedGelf(message, document, changes) ?? record.value);
      for (const id of ids) {
        const records = forwards.get(id);
        const forwarded = { key, value, timestamp, origin };
        if (records === undefined) forwards.set(id, [forwarded]);
        else records.push(forwarded);
      }
    },
  };
}
