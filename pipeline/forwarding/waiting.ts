/** What waits in the topic of an output, and since when. */
import type { TopicLog } from '../../topics/contract.js';
import { firstRecord } from '../first-record.js';

export interface Waiting {
  readonly lag: number;
  /** The offset that the first of them stands at, or behind. */
  readonly from: number;
}

/** `confirmed`: what this process knows beyond what is committed. */
export async function waitingIn(topics: TopicLog, topic: string, group: string, confirmed: number): Promise<Waiting> {
  const [state] = await topics.partitions(topic);
  const committed = (await topics.committed(group, topic)).get(0);
  if (state === undefined) return { lag: 0, from: 0 };
  const from = Math.max(state.earliest, committed ?? 0, confirmed);
  return { lag: Math.max(0, state.logEnd - from), from };
}

/**
 * Receive time of the first message from an offset on, milliseconds since the epoch; read once for each offset, since a
 * reading may cost a connection.
 */
export function createFirstWaiting(topics: TopicLog, topic: string): (from: number) => Promise<number | undefined> {
  let known: { readonly from: number; readonly timestamp: number } | undefined;
  return async (from) => {
    if (known?.from === from) return known.timestamp;
    const record = await firstRecord(topics, topic, from);
    known = record === undefined ? undefined : { from, timestamp: record.timestamp };
    return record?.timestamp;
  };
}

export function ageInSeconds(oldest: number | undefined): number {
  return oldest === undefined ? 0 : Math.max(0, Date.now() - oldest) / 1000;
}
