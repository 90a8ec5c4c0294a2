/** What people see of the running program: senders, streams and rules by what they do, and what passes. */
import { buildMetrics, type Registry } from '../../core/metrics.js';
import type { RecentProblems } from '../../core/recent-problems.js';
import { pipelineMetrics } from '../metrics.js';
import type { Monitoring } from './contract.js';
import { createSenders, type Senders } from './senders.js';
import { createTaps, type Taps } from './taps.js';

export interface View extends Monitoring {
  readonly senders: Senders;
  readonly taps: Taps;
}

export function createView(registry: Registry, problems?: RecentProblems): View {
  const metrics = buildMetrics(registry, pipelineMetrics);
  const senders = createSenders(registry);
  /** Receivers declare their own metrics; a process without them has none. */
  const sum = async (name: string): Promise<number> => {
    const values = (await registry.getSingleMetric(name)?.get())?.values ?? [];
    return values.reduce((total, { value }) => total + value, 0);
  };
  return {
    senders,
    taps: createTaps(registry),
    async counts() {
      const [received, refused, shed, appended, stored, deadLettered] = await Promise.all([
        sum('sluice_messages_received_total'),
        sum('sluice_messages_refused_total'),
        sum('sluice_messages_shed_total'),
        sum('sluice_messages_appended_total'),
        sum('sluice_documents_stored_total'),
        sum('sluice_documents_dead_lettered_total'),
      ]);
      return { received, refused, shed, appended, stored, dead_lettered: deadLettered };
    },
    oldestUnprocessed: () => sum('sluice_oldest_unprocessed_seconds'),
    problems: () => problems?.list() ?? [],
    async top() {
      const [streams, rules] = await Promise.all([metrics.streamMessages.get(), metrics.ruleMatches.get()]);
      const byLabel = (
        values: readonly { readonly value: number; readonly labels: object }[],
        label: string,
      ): Record<string, number> =>
        Object.fromEntries(
          values.map(({ value, labels }) => [String((labels as Record<string, unknown>)[label]), value]),
        );
      return {
        at: Date.now(),
        senders: senders.list(),
        streams: byLabel(streams.values, 'stream'),
        rules: byLabel(rules.values, 'rule'),
      };
    },
  };
}
