/**
 * Parking topics: one for each index set that was ever blocked, of one partition, without an end to their retention.
 */
import { at } from '../../core/at.js';
import { isSluiceError } from '../../core/errors.js';
import type { Span } from '../delivery/records.js';
import type { Ledger } from '../ledger/ledger.js';
import type { IndexBatch } from '../index-batch.js';
import type { ConsumedBatch, ConsumedRecord, TopicLog, TopicRecord } from '../../topics/contract.js';
import { firstRecord } from '../first-record.js';
import { drainGroup, largestHeaderBytes, parkedRecord, parkingTopic } from './envelope.js';

/** What was asked within this time is not asked again: every partition that has the set parked wants to know. */
const freshMs = 150;
/** A drain that committed within this time is on its way. */
const movingMs = 3_000;
const nothing = { earliest: 0, logEnd: 0 };

interface Origin {
  readonly batch: ConsumedBatch;
  /** Of the topic. */
  readonly generation: number;
  readonly spans: readonly Span[];
}

interface Progress {
  /** What lies below is drained, durably. */
  readonly drainedTo: number;
  readonly logEnd: number;
  /** When the drain was last seen to have got further; -Infinity: never. */
  readonly movedAt: number;
  /** A short time ago. */
  readonly moving: boolean;
}

export interface ParkingTopics {
  /** Appends the documents' messages, by offset. Resolves when they are durable. */
  append(indexSet: string, origin: Origin, batches: readonly IndexBatch[]): Promise<void>;
  /** Log end now; 0 when there is no topic. */
  logEnd(indexSet: string): Promise<number>;
  /** As it was a moment ago, or as it is now. */
  progress(indexSet: string, now?: 'now'): Promise<Progress>;
  /** The oldest message that is not drained. */
  oldest(indexSet: string, drainedTo: number): Promise<ConsumedRecord | undefined>;
  /** Bytes of a record in the mean. */
  meanBytes(indexSet: string): number;
  /** Removes what is drained. */
  trim(indexSet: string): Promise<void>;
  /** Creates the topic where it is missing, so that it can be consumed. */
  ensure(indexSet: string): Promise<void>;
}

interface ParkingTopicsOptions {
  readonly topics: TopicLog;
  readonly ledger: Ledger;
  readonly prefix: string;
  readonly group: string;
  /** Largest record of the topics that messages are parked from. */
  readonly maxMessageBytes: number;
  readonly now: () => number;
}

export function createParkingTopics(options: ParkingTopicsOptions): ParkingTopics {
  const { topics, ledger, prefix, group, now } = options;
  const ensured = new Map<string, Promise<unknown>>();
  const asked = new Map<string, { readonly at: number; readonly answer: Promise<Progress> }>();
  const moved = new Map<string, { readonly drainedTo: number; readonly at: number }>();
  const sizes = new Map<string, { records: number; bytes: number }>();

  const ensure = async (indexSet: string): Promise<void> => {
    const known = ensured.get(indexSet);
    if (known !== undefined) return void (await known);
    const name = parkingTopic(prefix, indexSet);
    const made = ledger.keepParkingSet(indexSet).then(() =>
      topics.ensureTopics([
        {
          name,
          partitions: 1,
          retentionBytes: undefined,
          retentionMs: undefined,
          maxMessageBytes: options.maxMessageBytes + largestHeaderBytes,
        },
      ]),
    );
    ensured.set(indexSet, made);
    made.catch(() => ensured.delete(indexSet));
    await made;
  };

  const bounds = async (indexSet: string): Promise<{ readonly earliest: number; readonly logEnd: number }> => {
    try {
      return (await topics.partitions(parkingTopic(prefix, indexSet)))[0] ?? nothing;
    } catch (error) {
      if (!isSluiceError(error) || error.code !== 'TOPIC_UNKNOWN') throw error;
      ensured.delete(indexSet);
      return nothing;
    }
  };

  const ask = async (indexSet: string): Promise<Progress> => {
    const { earliest, logEnd } = await bounds(indexSet);
    const committed =
      logEnd === 0
        ? undefined
        : (await topics.committed(drainGroup(group, indexSet), parkingTopic(prefix, indexSet))).get(0);
    // A group that was idle for long is forgotten; what was removed had been drained.
    const drainedTo = Math.max(committed ?? 0, earliest);
    const last = moved.get(indexSet);
    if (last?.drainedTo !== drainedTo) moved.set(indexSet, { drainedTo, at: last === undefined ? -Infinity : now() });
    const movedAt = moved.get(indexSet)?.at ?? -Infinity;
    return { drainedTo, logEnd, movedAt, moving: now() - movedAt < movingMs };
  };

  return {
    ensure,
    logEnd: async (indexSet) => (await bounds(indexSet)).logEnd,
    async append(indexSet, origin, batches) {
      await ensure(indexSet);
      const records = recordsOf(origin, batches);
      await topics.append(parkingTopic(prefix, indexSet), 0, records);
      const size = sizes.get(indexSet) ?? { records: 0, bytes: 0 };
      sizes.set(indexSet, {
        records: size.records + records.length,
        bytes: size.bytes + records.reduce((sum, { value }) => sum + value.length, 0),
      });
    },
    progress(indexSet, fresh) {
      const known = asked.get(indexSet);
      if (fresh === undefined && known !== undefined && now() - known.at < freshMs) return known.answer;
      const answer = ask(indexSet);
      asked.set(indexSet, { at: now(), answer });
      answer.catch(() => asked.get(indexSet)?.answer === answer && asked.delete(indexSet));
      return answer;
    },
    oldest: (indexSet, drainedTo) => firstRecord(topics, parkingTopic(prefix, indexSet), drainedTo),
    async trim(indexSet) {
      const { drainedTo } = await ask(indexSet);
      if (drainedTo > 0) await topics.trim(parkingTopic(prefix, indexSet), 0, drainedTo);
    },
    meanBytes(indexSet) {
      const { records, bytes } = sizes.get(indexSet) ?? { records: 0, bytes: 0 };
      return records === 0 ? 0 : bytes / records;
    },
  };
}

function recordsOf({ batch, generation, spans }: Origin, batches: readonly IndexBatch[]): TopicRecord[] {
  const { topic, partition } = batch;
  const entries = batches.flatMap(({ index, offsets, recordPositions }) =>
    offsets.map((offset, place) => ({ offset, index, position: at(recordPositions, place) })),
  );
  entries.sort((left, right) => left.offset - right.offset);
  let span = 0;
  return entries.map(({ offset, index, position }) => {
    while (offset >= at(spans, span).to) span += 1;
    return parkedRecord(at(batch.records, position), {
      topic,
      generation,
      partition,
      offset,
      epoch: at(spans, span).epoch,
      index,
    });
  });
}
