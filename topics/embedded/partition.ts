/**
 * One partition as its writer: appends wait in order and are committed in groups, one write and one sync for all that
 * wait.
 */
import { withinDeadline } from '../../core/time/deadline.js';
import { at } from '../../core/at.js';
import { createRateLimit, type Log } from '../../core/log.js';
import { errorText, isSluiceError, toError } from '../../core/errors.js';
import type { TopicRecord } from '../contract.js';
import { topicErrors } from '../errors.js';
import type { DiskGuard } from './disk.js';
import { hasCode } from './files.js';
import { encodeFrames, headerBytes, recordBound } from './frame.js';
import type { SegmentFiles } from './segment-files.js';
import { embeddedEvents } from './events.js';

/**
 * One write takes at most about this much: it bounds the memory of a write and how long the first of it waits for the
 * last.
 */
const maxGroupBytes = 4 * 2 ** 20;
const firstPauseMs = 100;
const longestPauseMs = 1000;

export interface PartitionEvents {
  readonly appended: (records: number, bytes: number, seconds: number) => void;
  readonly refused: (reason: string) => void;
  readonly synced: (seconds: number) => void;
}

interface Waiting {
  readonly records: readonly TopicRecord[];
  readonly since: number;
  /** Records already taken into a group. */
  taken: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface Group {
  readonly records: TopicRecord[];
  readonly complete: Waiting[];
  bound: number;
}

interface PartitionParts {
  readonly topic: string;
  readonly partition: number;
  readonly files: SegmentFiles;
  readonly segmentBytes: number;
  readonly disk: DiskGuard;
  readonly log: Log;
  readonly events: PartitionEvents;
}

export class Partition {
  readonly topic: string;
  readonly partition: number;
  readonly files: SegmentFiles;
  readonly #disk: DiskGuard;
  readonly #log: Log;
  readonly #events: PartitionEvents;
  readonly #groupBytes: number;
  readonly #mayLog = createRateLimit(6);
  /** Bounded by its callers: they hold at most `topics.max_waiting_bytes`. */
  readonly #queue: Waiting[] = [];
  readonly #listeners = new Set<() => void>();
  #draining: Promise<void> | undefined;
  #stopped = false;
  #aborted = false;
  #wake: () => void = () => {};
  #problem: string | undefined;
  /** Serves writes, rolls and removals one at a time. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor({ topic, partition, files, segmentBytes, disk, log, events }: PartitionParts) {
    this.topic = topic;
    this.partition = partition;
    this.files = files;
    this.#groupBytes = Math.min(maxGroupBytes, segmentBytes);
    this.#disk = disk;
    this.#log = log;
    this.#events = events;
  }

  /** Why appends wait, while they do. */
  get problem(): string | undefined {
    return this.#problem;
  }

  append(records: readonly TopicRecord[]): Promise<void> {
    if (this.#stopped) return Promise.reject(this.#stoppedError());
    return new Promise((resolve, reject) => {
      this.#queue.push({ records, since: performance.now(), taken: 0, resolve, reject });
      this.#draining ??= this.#drain().finally(() => {
        this.#draining = undefined;
      });
    });
  }

  /** Calls back once after the next append. Returns how to forget it. */
  onceAppended(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Runs while no write is under way. */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => {});
    return result;
  }

  /** Refuses new appends, waits for those under way until the deadline, then rejects the rest and closes the files. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopped = true;
    if (this.#draining !== undefined) await withinDeadline(this.#draining, deadlineMs);
    this.#aborted = true;
    this.#wake();
    for (const waiting of this.#queue.splice(0)) waiting.reject(this.#stoppedError());
    const closed = this.exclusively(() => this.files.close());
    if (this.#draining === undefined) await closed;
  }

  async #drain(): Promise<void> {
    // Appends of the same turn of the event loop share the first write.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const group = this.#takeGroup();
      let failure: Error | undefined;
      try {
        const frames = Buffer.allocUnsafe(group.bound);
        const length = encodeFrames(frames, group.records, this.files.logEnd);
        if (!(await this.#writeUntilDurable(frames.subarray(0, length), group.records))) failure = this.#stoppedError();
      } catch (thrown) {
        // Not by a failing disk: a record that is none. The append that lies in this group in part goes with it.
        failure = toError(thrown);
        if ((this.#queue[0]?.taken ?? 0) > 0) group.complete.push(this.#queue.shift() as Waiting);
      }
      for (const waiting of group.complete) {
        if (failure === undefined) waiting.resolve();
        else waiting.reject(failure);
      }
      if (failure === undefined) this.#report(group);
    }
  }

  /** The next records in order, up to the bound; an append larger than it is spread over several groups. */
  #takeGroup(): Group {
    const group: Group = { records: [], complete: [], bound: 0 };
    for (let head = this.#queue[0]; head !== undefined; head = this.#queue[0]) {
      while (head.taken < head.records.length) {
        const record = at(head.records, head.taken);
        const bound = recordBound(record) + headerBytes;
        if (group.records.length > 0 && group.bound + bound > this.#groupBytes) return group;
        group.records.push(record);
        group.bound += bound;
        head.taken += 1;
      }
      group.complete.push(head);
      this.#queue.shift();
    }
    return group;
  }

  /** False when the log was stopped before there was room. */
  async #writeUntilDurable(frames: Buffer, records: readonly TopicRecord[]): Promise<boolean> {
    let maxTimestamp = Number.NEGATIVE_INFINITY;
    for (const record of records) if (record.timestamp > maxTimestamp) maxTimestamp = record.timestamp;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      if (this.#aborted) return false;
      try {
        await this.#disk.take(frames.length);
        await this.exclusively(() => this.files.write(frames, records.length, maxTimestamp, this.#events.synced));
        if (this.#problem !== undefined)
          embeddedEvents.partitionRecovered(this.#log, { topic: this.topic, partition: this.partition });
        this.#problem = undefined;
        return true;
      } catch (thrown) {
        this.#refused(thrown);
        await this.#pause(pauseMs);
      }
    }
  }

  #refused(thrown: unknown): void {
    const full = hasCode(thrown, 'ENOSPC') || hasCode(thrown, 'EDQUOT');
    const place = `${this.topic}/${this.partition}`;
    const error = isSluiceError(thrown)
      ? thrown
      : full
        ? this.#disk.full(thrown)
        : topicErrors.create('TOPIC_WRITE_FAILED', { place, got: errorText(thrown), cause: thrown });
    this.#problem = errorText(error);
    this.#events.refused(error.code === 'TOPIC_DISK_FULL' ? 'disk_full' : 'write_failed');
    const { allowed, suppressed } = this.#mayLog(error.code);
    if (allowed)
      embeddedEvents.appendRefused(
        this.#log,
        { code: error.code, topic: this.topic, partition: this.partition, suppressed },
        this.#problem,
      );
  }

  #report(group: Group): void {
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
    const now = performance.now();
    for (const waiting of group.complete) {
      let bytes = 0;
      for (const record of waiting.records) bytes += record.value.length;
      this.#events.appended(waiting.records.length, bytes, (now - waiting.since) / 1000);
    }
    // A group that completes no append (a part of a large one) is reported with the append.
  }

  #pause(milliseconds: number): Promise<void> {
    if (this.#aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #stoppedError(): Error {
    return topicErrors.create('TOPIC_LOG_STOPPED', { place: `${this.topic}/${this.partition}` });
  }
}
