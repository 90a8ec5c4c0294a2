/** What people see of the running program: senders, streams and rules by what they do, and what passes. */
import type { Registry } from '../../core/metrics.js';
import { buildMetrics } from '../../core/metrics.js';
import { pipelineMetrics } from '../metrics.js';
import { createSenders, type SenderAccount, type Senders } from './senders.js';
import { createTaps, type Taps } from './taps.js';

/** Counts since the start; who wants rates asks twice. */
export interface Top {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly senders: readonly SenderAccount[];
  readonly streams: Readonly<Record<string, number>>;
  readonly rules: Readonly<Record<string, number>>;
}

export interface View {
  readonly senders: Senders;
  readonly taps: Taps;
  top(): Promise<Top>;
}

export function createView(registry: Registry): View {
  const metrics = buildMetrics(registry, pipelineMetrics);
  const senders = createSenders(registry);
  return {
    senders,
    taps: createTaps(registry),
    async top() {
      const [streams, rules] = await Promise.all([metrics.streamMessages.get(), metrics.ruleMatches.get()]);
      const byLabel = (values: readonly { readonly value: number; readonly labels: object }[], label: string): Record<string, number> =>
        Object.fromEntries(values.map(({ value, labels }) => [String((labels as Record<string, unknown>)[label]), value]));
      return { at: Date.now(), senders: senders.list(), streams: byLabel(streams.values, 'stream'), rules: byLabel(rules.values, 'rule') };
    },
  };
}
