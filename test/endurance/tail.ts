/**
 * Reads the topic while it is written, as an independent reader: when honest messages were seen there, and what there
 * is of them in the end.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { loadConfig } from '../../program/settings.js';
import { silentLog } from '../../core/log.js';
import { Registry } from '../../core/metrics.js';
import type { TopicLog } from '../../topics/contract.js';
import { createTopicLog } from '../../program/topic-log.js';
import type { Point } from './figures.js';
import { readHonest } from './honest.js';

/** Pause between two looks; the latencies are this much too large at the most. */
const lookMs = 10;

export interface Tail {
  /** Milliseconds from a TCP sender's write to the message standing in the topic. */
  readonly appended: Point[];
  readonly seen: TopicView;
  /** Reads what there is to read, then ends. */
  stop(): Promise<void>;
}

export interface TopicView {
  /** Ids of all records, honest or not. */
  readonly ids: Set<string>;
  resent: number;
  /** Sequences by sender and lane. */
  readonly lanes: Map<string, Set<number>>;
  doubled: number;
  outOfOrder: number;
}

export async function startTail(settingsFile: string): Promise<Tail> {
  const { config } = loadConfig({ file: settingsFile, environment: {} });
  const log = createTopicLog(config, { registry: new Registry(), log: silentLog, readOnly: true });
  if (log.capabilities().shared) await log.start();
  const topic = `${config.topics.prefix}logs`;
  const appended: Point[] = [];
  const seen: TopicView = { ids: new Set(), resent: 0, lanes: new Map(), doubled: 0, outOfOrder: 0 };
  const next = new Map((await log.partitions(topic)).map(({ partition, earliest }) => [partition, earliest]));
  const highest = new Map<string, number>();
  const look = (): Promise<void> =>
    lookOnce(log, topic, next, (partition, id, value) => {
      if (seen.ids.has(id)) {
        seen.resent += 1;
        return;
      }
      seen.ids.add(id);
      const place = readHonest(value);
      if (place === undefined) return;
      const lane = `${place.by} ${place.lane}`;
      if (place.by === 'tcp') {
        appended.push({ at: Date.now(), value: Date.now() - place.at });
        if (place.sequence <= (highest.get(`${partition} ${lane}`) ?? 0)) seen.outOfOrder += 1;
        highest.set(`${partition} ${lane}`, place.sequence);
      }
      const sequences = seen.lanes.get(lane) ?? new Set();
      if (sequences.has(place.sequence)) seen.doubled += 1;
      seen.lanes.set(lane, sequences.add(place.sequence));
    });
  let stopping = false;
  const running = (async () => {
    while (!stopping) {
      await look();
      await wait(lookMs);
    }
  })();
  return {
    appended,
    seen,
    async stop() {
      stopping = true;
      await running;
      await look();
      await log.stop(5_000);
    },
  };
}

async function lookOnce(
  log: TopicLog,
  topic: string,
  next: Map<number, number>,
  onRecord: (partition: number, id: string, value: Buffer) => void,
): Promise<void> {
  for (const [partition, from] of next) {
    await log.read(topic, partition, from, (records) => {
      for (const { key, value, offset } of records) {
        onRecord(partition, key, value);
        next.set(partition, offset + 1);
      }
    });
  }
}

/** Messages of one transport that stand in the topic, each counted once. */
export function seenOf(view: TopicView, by: string): number {
  let sum = 0;
  for (const [lane, sequences] of view.lanes) if (lane.startsWith(`${by} `)) sum += sequences.size;
  return sum;
}
