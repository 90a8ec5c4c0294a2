/** An output that its settings switch off: it takes and sends nothing, and what waits for it is still told. */
import type { BuiltMetrics } from '../../core/metrics.js';
import { isSluiceError } from '../../core/errors.js';
import type { OutputSettings } from '../../schemas/outputs/output.js';
import type { TopicLog } from '../../topics/contract.js';
import type { outputMetrics } from './metrics.js';
import { ageInSeconds, createFirstWaiting, waitingIn, type Waiting } from './waiting.js';
import type { OutputStatus } from './contract.js';

interface PausedOutputOptions {
  readonly settings: OutputSettings;
  readonly topics: TopicLog;
  readonly topic: string;
  readonly group: string;
  /** What it did last, in this process. */
  readonly last: OutputStatus | undefined;
  readonly metrics: BuiltMetrics<typeof outputMetrics>;
}

export interface PausedOutput {
  status(): Promise<OutputStatus>;
  collect(): Promise<void>;
}

export function createPausedOutput({
  settings,
  topics,
  topic,
  group,
  last,
  metrics,
}: PausedOutputOptions): PausedOutput {
  const { id, title, type, protocol, host, port } = settings;
  const firstWaiting = createFirstWaiting(topics, topic);
  const look = async (): Promise<Waiting & { readonly oldest: number | undefined }> => {
    const waiting = await waitingIn(topics, topic, group, 0).catch((error: unknown) => {
      // It was never switched on.
      if (isSluiceError(error) && error.code === 'TOPIC_UNKNOWN') return { lag: 0, from: 0 };
      throw error;
    });
    return { ...waiting, oldest: waiting.lag === 0 ? undefined : await firstWaiting(waiting.from) };
  };
  return {
    async status() {
      const { lag, oldest } = await look();
      const {
        sent = 0,
        failed = 0,
        dropped = 0,
        address = `${type} ${protocol} ${host}:${port}`,
        lastError,
        lastErrorAt,
      } = last ?? {};
      return {
        id,
        title,
        type,
        protocol,
        enabled: false,
        state: 'paused',
        address,
        lag,
        oldest: oldest === undefined ? undefined : new Date(oldest).toISOString(),
        sent,
        failed,
        dropped,
        lastError,
        lastErrorAt,
        unconfirmedMessages: 0,
        unconfirmedBytes: 0,
      };
    },
    async collect() {
      const { lag, oldest } = await look();
      metrics.connected.set({ output: id }, 0);
      metrics.waiting.set({ output: id }, lag);
      metrics.oldest.set({ output: id }, ageInSeconds(oldest));
    },
  };
}
