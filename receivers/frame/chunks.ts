/**
 * Joins GELF chunks (docs.graylog.org, GELF via UDP): 1e 0f, an 8-byte set id, number, count, data; any order, at most
 * 128. Sets are keyed by sender and id, so that senders cannot disturb each other. A set that is complete is remembered
 * until its time is over, so that a late duplicate does not open it anew. At a bound the oldest waiting set gives way:
 * an honest set is complete within milliseconds, so under a flood of incomplete ones those go first, and a full table
 * never refuses a chunk.
 */
import { crc32 } from 'node:zlib';
import type { SluiceError } from '../../core/errors.js';
import { receiverErrors } from '../errors.js';
import { ChunkSetQueue, type ChunkSet } from './chunk-sets.js';

interface ChunkAssemblerOptions {
  /** Incomplete sets at the same time. */
  readonly maxSets: number;
  /** Memory of all incomplete sets. */
  readonly maxBytes: number;
  /** From the first chunk of a set. */
  readonly timeoutMs: number;
}

/** A set that was given up. */
interface LostChunkSet {
  /** CHUNK_SET_EXPIRED or CHUNK_SET_EVICTED. */
  readonly error: SluiceError;
  readonly peer: string;
  readonly received: number;
  readonly total: number;
  /** Data of the lowest chunk that came (8 KiB of it at most), and the bytes of data that came in all. */
  readonly head: Buffer;
  readonly bytes: number;
}

export interface ChunkCounters {
  chunks: number;
  completed: number;
  expired: number;
  evicted: number;
  duplicate: number;
  refused: number;
  readonly waitingSets: number;
  readonly waitingBytes: number;
}

export interface ChunkAssembler {
  /**
   * Takes a datagram that begins with 1e 0f and keeps it (as a view) until its set is complete. The joined payload when
   * it was the last one, undefined while chunks are missing and for duplicates, or why it is refused, which costs this
   * datagram only.
   */
  add(datagram: Buffer, peer: string): Buffer | SluiceError | undefined;
  /**
   * To be called about once a second. The sets given up since the last call: too old at `time`, or evicted (1,000 at
   * most are named, all are counted).
   */
  expire(time?: number): readonly LostChunkSet[];
  readonly counters: ChunkCounters;
}

const headerBytes = 12;
const maxChunks = 128;
/** What a set and a chunk cost beside their data, so that floods of empty chunks are bounded in bytes too. */
const setOverhead = 512;
const chunkOverhead = 128;
/** Complete sets remembered against late duplicates: five seconds at 3,000 sets a second; about 5 MB. */
const maxRemembered = 16_384;
/** Evicted sets named between two calls of `expire`; a flood beyond that is only counted. */
const maxNamed = 1000;
/** Kept of a named set: enough to recognise the message, 8 MB for all of them. */
const headBytes = 8192;

export function createChunkAssembler(
  options: ChunkAssemblerOptions,
  now: () => number = () => performance.now(),
): ChunkAssembler {
  return new Assembler(options, now);
}

class Assembler implements ChunkAssembler {
  readonly #options: ChunkAssemblerOptions;
  readonly #now: () => number;
  readonly #sets = new Map<string, ChunkSet>();
  readonly #waiting = new ChunkSetQueue();
  readonly #complete = new ChunkSetQueue();
  #waitingBytes = 0;
  #lost: LostChunkSet[] = [];
  readonly counters: ChunkCounters;

  constructor(options: ChunkAssemblerOptions, now: () => number) {
    this.#options = options;
    this.#now = now;
    const waitingSets = () => this.#waiting.length;
    const waitingBytes = () => this.#waitingBytes;
    this.counters = {
      chunks: 0,
      completed: 0,
      expired: 0,
      evicted: 0,
      duplicate: 0,
      refused: 0,
      get waitingSets() {
        return waitingSets();
      },
      get waitingBytes() {
        return waitingBytes();
      },
    };
  }

  add(datagram: Buffer, peer: string): Buffer | SluiceError | undefined {
    this.counters.chunks += 1;
    if (datagram.length < headerBytes) return this.#refuse('CHUNK_HEADER_SHORT', peer, `${datagram.length} bytes`);
    const number = datagram[10] ?? 0;
    const count = datagram[11] ?? 0;
    if (count === 0 || count > maxChunks)
      return this.#refuse('CHUNK_COUNT_INVALID', peer, `${count}`, `1 to ${maxChunks}`);
    if (number >= count) return this.#refuse('CHUNK_NUMBER_INVALID', peer, `number ${number} of ${count}`);
    const key = peer + datagram.toString('latin1', 2, 10);
    const known = this.#sets.get(key);
    const time = this.#now();
    let set: ChunkSet;
    if (known === undefined) {
      set = this.#open(key, peer, count, time);
      this.#sets.set(key, set);
      this.#waiting.add(set);
    } else if (time - known.since >= this.#options.timeoutMs) {
      set = this.#startOver(known, count, time);
    } else if (known.parts === undefined) {
      if (this.#isLate(known, number, count, datagram)) return undefined;
      set = this.#startOver(known, count, time);
    } else if (known.count !== count) {
      return this.#refuse('CHUNK_COUNT_MISMATCH', peer, `${count} where it was ${known.count}`);
    } else {
      set = known;
    }
    return this.#place(set, number, datagram);
  }

  expire(time = this.#now()): readonly LostChunkSet[] {
    for (
      let set = this.#waiting.oldest;
      set !== undefined && time - set.since >= this.#options.timeoutMs;
      set = this.#waiting.oldest
    ) {
      this.#giveUp(set, 'CHUNK_SET_EXPIRED');
      this.#sets.delete(set.key);
    }
    for (
      let set = this.#complete.oldest;
      set !== undefined && time - set.since >= this.#options.timeoutMs;
      set = this.#complete.oldest
    ) {
      this.#complete.remove(set);
      this.#sets.delete(set.key);
    }
    const lost = this.#lost;
    this.#lost = [];
    return lost;
  }

  #open(key: string, peer: string, count: number, time: number): ChunkSet {
    this.#waitingBytes += setOverhead;
    return {
      key,
      peer,
      since: time,
      count,
      received: 0,
      bytes: setOverhead,
      parts: new Array<Buffer | undefined>(count),
      checksums: undefined,
      previous: undefined,
      next: undefined,
    };
  }

  /**
   * The same sender begins another message with an id that is still known: its old set is complete, or its time is
   * over.
   */
  #startOver(known: ChunkSet, count: number, time: number): ChunkSet {
    if (known.parts === undefined) this.#complete.remove(known);
    else this.#giveUp(known, 'CHUNK_SET_EXPIRED');
    known.since = time;
    known.count = count;
    known.received = 0;
    known.bytes = setOverhead;
    known.parts = new Array<Buffer | undefined>(count);
    known.checksums = undefined;
    this.#waitingBytes += setOverhead;
    this.#waiting.add(known);
    return known;
  }

  #isLate(complete: ChunkSet, number: number, count: number, datagram: Buffer): boolean {
    if (complete.count !== count || complete.checksums?.[number] !== crc32(datagram.subarray(headerBytes)))
      return false;
    this.counters.duplicate += 1;
    return true;
  }

  #place(set: ChunkSet, number: number, datagram: Buffer): Buffer | SluiceError | undefined {
    const parts = set.parts as (Buffer | undefined)[];
    const present = parts[number];
    if (present !== undefined) {
      if (present.equals(datagram)) {
        this.counters.duplicate += 1;
        return undefined;
      }
      return this.#refuse('CHUNK_ID_REUSED', set.peer, `chunk ${number} of ${set.count} a second time with other data`);
    }
    parts[number] = datagram;
    set.received += 1;
    set.bytes += datagram.length + chunkOverhead;
    this.#waitingBytes += datagram.length + chunkOverhead;
    if (set.received === set.count) return this.#join(set, parts as Buffer[]);
    while (
      this.#waiting.length > this.#options.maxSets ||
      (this.#waitingBytes > this.#options.maxBytes && this.#waiting.length > 0)
    )
      this.#evictOldest();
    return undefined;
  }

  #join(set: ChunkSet, datagrams: readonly Buffer[]): Buffer | SluiceError {
    this.#waiting.remove(set);
    this.#waitingBytes -= set.bytes;
    const data = datagrams.map((datagram) => datagram.subarray(headerBytes));
    set.parts = undefined;
    set.checksums = data.map((part) => crc32(part));
    set.since = this.#now();
    this.#complete.add(set);
    if (this.#complete.length > maxRemembered) {
      const oldest = this.#complete.oldest as ChunkSet;
      this.#complete.remove(oldest);
      this.#sets.delete(oldest.key);
    }
    const [only] = data;
    const joined = data.length === 1 && only !== undefined ? only : Buffer.concat(data);
    if (joined[0] === 0x1e && joined[1] === 0x0f)
      return this.#refuse('CHUNK_NESTED', set.peer, `${joined.length} bytes`);
    this.counters.completed += 1;
    return joined;
  }

  #evictOldest(): void {
    const oldest = this.#waiting.oldest as ChunkSet;
    this.#giveUp(oldest, 'CHUNK_SET_EVICTED');
    this.#sets.delete(oldest.key);
  }

  /** Takes a waiting set out of its queue, and names it among the lost. */
  #giveUp(set: ChunkSet, code: 'CHUNK_SET_EXPIRED' | 'CHUNK_SET_EVICTED'): void {
    this.#waiting.remove(set);
    this.#waitingBytes -= set.bytes;
    if (code === 'CHUNK_SET_EXPIRED') this.counters.expired += 1;
    else this.counters.evicted += 1;
    if (this.#lost.length < maxNamed) {
      const first = set.parts?.find((part) => part !== undefined);
      this.#lost.push({
        error: receiverErrors.create(code, { place: set.peer, got: `${set.received} of ${set.count} chunks` }),
        peer: set.peer,
        received: set.received,
        total: set.count,
        head: first === undefined ? Buffer.alloc(0) : Buffer.from(first.subarray(headerBytes, headerBytes + headBytes)),
        bytes: set.bytes - setOverhead - set.received * (chunkOverhead + headerBytes),
      });
    }
    set.parts = undefined;
  }

  #refuse(code: keyof typeof receiverErrors.kinds, place: string, got: string, allowed?: string): SluiceError {
    this.counters.refused += 1;
    return receiverErrors.create(code, { place, got, allowed });
  }
}
