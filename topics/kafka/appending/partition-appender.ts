/**
 * Appends to one partition: a queue, one outstanding request, its retries included, and a producer id of its own.
 *
 * A batch that got no answer is sent again as it was, under the same id and sequence, so the broker knows it. When the
 * broker has lost track of the numbering a new id is taken and the same records are sent under it: they may then stand
 * twice, which consumers skip by key.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { at } from '../../../core/at.js';
import { isSluiceError, type SluiceError } from '../../../core/errors.js';
import type { TopicRecord } from '../../contract.js';
import { topicErrors } from '../../errors.js';
import type { Codec } from '../records/codecs.js';
import {
  encodeProduce,
  encodeRecords,
  nextSequence,
  recordBytes,
  type EncodedRecords,
  type ProducerState,
} from '../records/record-batch.js';
import { verdictOf } from './produce.js';

const firstPauseMs = 100;
/** A partition that lost its leader is without one for seconds: whether it has another is asked this often. */
const longestPauseMs = 400;
/** More records in one batch gain nothing and hold others of the partition up. */
const maxBatchRecords = 20_000;

/** What the appender needs from the connection to the brokers. */
export interface AppendTransport {
  /** A producer id that no other partition uses. */
  newProducer(): Promise<ProducerState>;
  /** Sends to the partition's leader and resolves with the error code. Rejects when no answer came. */
  send(request: Buffer): Promise<number>;
  /** After a failure: look for the leader again; drops connections that stay broken. */
  recover(failure: unknown, attempts: number): Promise<void>;
}

interface AppendSettings {
  readonly topic: string;
  readonly partition: number;
  readonly codec: Codec | undefined;
  readonly timeoutMs: number;
  /** Uncompressed bytes of one batch. */
  readonly batchBytes: () => number;
  /** Whether the partition was seen: then it is waited for when the brokers say that it does not exist. */
  readonly isKnown: () => boolean;
  readonly onAppended: (records: number, valueBytes: number) => void;
  readonly onFailed: (reason: string) => void;
  readonly onResent: (records: number) => void;
}

interface Append {
  readonly records: readonly TopicRecord[];
  readonly bytes: number;
  readonly since: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  /** Records of it that are durable. */
  done: number;
}

interface Chunk {
  readonly records: readonly TopicRecord[];
  readonly encoded: EncodedRecords;
}

/** How fast a bound that the broker forced down rises again. */
const regrowth = 1.01;

/** A topic that was never seen is given this many attempts: a new one takes a moment to reach every broker. */
const attemptsForUnknown = 4;

export class PartitionAppender {
  readonly #settings: AppendSettings;
  readonly #transport: AppendTransport;
  readonly #queue: Append[] = [];
  readonly #stopping = new AbortController();
  #producer: ProducerState | undefined;
  #running = false;
  #waitingBytes = 0;
  #lastFailure: string | undefined;
  #shrunkBatchBytes = Infinity;

  constructor(settings: AppendSettings, transport: AppendTransport) {
    this.#settings = settings;
    this.#transport = transport;
  }

  append(records: readonly TopicRecord[], bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ records, bytes, since: performance.now(), resolve, reject, done: 0 });
      this.#waitingBytes += bytes;
      if (!this.#running) void this.#run();
    });
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  get idle(): boolean {
    return !this.#running;
  }

  /** When the oldest append that waits was called; undefined when none does. */
  oldest(): { readonly since: number; readonly lastFailure: string | undefined } | undefined {
    const head = this.#queue[0];
    return head === undefined ? undefined : { since: head.since, lastFailure: this.#lastFailure };
  }

  /** Rejects what still waits. */
  abandon(): void {
    this.#stopping.abort();
    const error = topicErrors.create('TOPIC_LOG_STOPPED', { place: this.#place() });
    for (const append of this.#queue.splice(0)) append.reject(error);
    this.#waitingBytes = 0;
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#queue.length > 0 && !this.#stopping.signal.aborted) {
      const chunk = this.#nextChunk();
      const failure = await this.#sendUntilDurable(chunk);
      if (this.#stopping.signal.aborted) break;
      if (failure === 'smaller') continue;
      if (failure === undefined) this.#acknowledge(chunk);
      else this.#refuseHead(failure);
    }
    this.#running = false;
  }

  /**
   * The records at the head of the queue that fit into one batch, of one append or of several. They stay in the queue
   * until durable.
   */
  #nextChunk(): Chunk {
    const limit = Math.min(this.#settings.batchBytes(), this.#shrunkBatchBytes);
    const records: TopicRecord[] = [];
    let bytes = 0;
    for (const append of this.#queue) {
      for (let index = append.done; index < append.records.length; index += 1) {
        const record = at(append.records, index);
        const size = recordBytes(record);
        if (records.length > 0 && (bytes + size > limit || records.length === maxBatchRecords))
          return this.#encode(records, bytes);
        records.push(record);
        bytes += size;
      }
    }
    return this.#encode(records, bytes);
  }

  #encode(records: readonly TopicRecord[], bytes: number): Chunk {
    return { records, encoded: encodeRecords(records, bytes, this.#settings.codec) };
  }

  /** Undefined: durable. An error: can never be. 'smaller': try again with fewer records. */
  async #sendUntilDurable(chunk: Chunk): Promise<SluiceError | 'smaller' | undefined> {
    for (let attempts = 1; !this.#stopping.signal.aborted; attempts += 1) {
      let failure: unknown;
      try {
        const code = await this.#sendOnce(chunk, attempts > 1);
        const { verdict, name } = verdictOf(code);
        if (verdict === 'done') return undefined;
        failure = new Error(name);
        if (verdict === 'new-producer') this.#producer = undefined;
        if (verdict === 'too-large') return this.#shrink(chunk);
        if (verdict === 'invalid')
          return topicErrors.create('TOPIC_RECORD_INVALID', { place: this.#place(), got: name });
      } catch (thrown: unknown) {
        if (isSluiceError(thrown) && !thrown.retryable && attempts >= attemptsForUnknown && !this.#settings.isKnown())
          return thrown;
        failure = thrown;
      }
      await this.#pause(failure, attempts);
    }
    return undefined;
  }

  async #sendOnce(chunk: Chunk, again: boolean): Promise<number> {
    this.#producer ??= await this.#transport.newProducer();
    if (again) this.#settings.onResent(chunk.records.length);
    const { topic, partition, timeoutMs } = this.#settings;
    return this.#transport.send(encodeProduce({ topic, partition, timeoutMs }, chunk.encoded, this.#producer));
  }

  async #pause(failure: unknown, attempts: number): Promise<void> {
    this.#lastFailure = failure instanceof Error ? failure.message : String(failure);
    this.#settings.onFailed(this.#lastFailure);
    const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(attempts - 1, 10));
    try {
      await sleep(pauseMs / 2 + (Math.random() * pauseMs) / 2, undefined, { signal: this.#stopping.signal });
      await this.#transport.recover(failure, attempts);
    } catch (thrown: unknown) {
      if (!this.#stopping.signal.aborted) this.#lastFailure = thrown instanceof Error ? thrown.message : String(thrown);
    }
  }

  #shrink(chunk: Chunk): SluiceError | 'smaller' {
    if (chunk.records.length === 1) {
      const got = `a record of ${chunk.records[0]?.value.length} bytes`;
      return topicErrors.create('TOPIC_RECORD_TOO_LARGE', {
        place: this.#place(),
        got,
        allowed: 'max.message.bytes of the topic (topics.max_message_bytes when Sluice creates it)',
      });
    }
    const bytes = chunk.records.reduce((sum, record) => sum + recordBytes(record), 0);
    this.#shrunkBatchBytes = Math.ceil(bytes / 2);
    return 'smaller';
  }

  #acknowledge(chunk: Chunk): void {
    const producer = this.#producer as ProducerState;
    this.#producer = { ...producer, sequence: nextSequence(producer.sequence, chunk.records.length) };
    this.#lastFailure = undefined;
    this.#shrunkBatchBytes *= regrowth;
    let left = chunk.records.length;
    let valueBytes = 0;
    for (const record of chunk.records) valueBytes += record.value.length;
    this.#settings.onAppended(left, valueBytes);
    while (left > 0) {
      const head = at(this.#queue, 0);
      const taken = Math.min(left, head.records.length - head.done);
      head.done += taken;
      left -= taken;
      if (head.done < head.records.length) return;
      this.#queue.shift();
      this.#waitingBytes -= head.bytes;
      head.resolve();
    }
  }

  #refuseHead(error: SluiceError): void {
    const head = this.#queue.shift() as Append;
    this.#waitingBytes -= head.bytes;
    head.reject(error);
  }

  #place(): string {
    return `${this.#settings.topic}/${this.#settings.partition}`;
  }
}
