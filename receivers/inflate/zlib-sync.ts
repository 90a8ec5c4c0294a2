/**
 * Inflates with one reused zlib-sync instance. Needs the repairs of scripts/patch-zlib-sync.js: `reset()` and
 * `remaining`.
 */
import { createRequire } from 'node:module';
import { isSluiceError, type SluiceError } from '../../core/errors.js';
import { receiverErrors } from '../errors.js';
import { compressionOf, isGzip, maxGzipMembers, type Inflater } from './contract.js';

interface Engine {
  /** Takes nothing but a Buffer: anything else ends the process. */
  push(bytes: Buffer, flush: number): void;
  reset(): void;
  readonly err: number;
  /** A copy; null after an error. */
  readonly result: Buffer | null;
  readonly remaining: number;
}
type EngineClass = new (options: { readonly windowBits: number; readonly chunkSize: number }) => Engine;

/** Detects gzip and zlib by their headers (zlib.h, inflateInit2). */
const windowBits = 47;
const chunkSize = 64 * 1024;
/** Deflate expands 1032 times at most, so a slice of input adds at most 4 MiB before the limit is looked at. */
const sliceBytes = 4096;
const syncFlush = 2;
const streamEnd = 1;
const dataError = -3;
const needDictionary = 2;

/** Undefined where zlib-sync is not installed, not built for this Node.js, or not repaired. */
export function createZlibSyncInflater(): Inflater | undefined {
  const engine = loadEngine();
  return engine === undefined ? undefined : new ZlibSyncInflater(engine);
}

function loadEngine(): Engine | undefined {
  try {
    const { Inflate } = createRequire(import.meta.url)('zlib-sync') as { Inflate: EngineClass };
    const { prototype } = Inflate as unknown as { prototype: object };
    if (!('reset' in prototype)) return undefined;
    const engine = new Inflate({ windowBits, chunkSize });
    return typeof engine.remaining === 'number' ? engine : undefined;
  } catch {
    return undefined;
  }
}

class ZlibSyncInflater implements Inflater {
  readonly name = 'zlib-sync';
  readonly #engine: Engine;
  #trailingIgnored = 0;
  /** Where the last member ended. */
  #end = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  get trailingIgnored(): number {
    return this.#trailingIgnored;
  }

  inflate(bytes: Buffer, maxBytes: number): Buffer | SluiceError {
    const compression = compressionOf(bytes);
    if (compression !== 'gzip' && compression !== 'zlib')
      return receiverErrors.create('INFLATE_UNSUPPORTED', { got: `the bytes ${bytes.subarray(0, 4).toString('hex')}` });
    const first = this.#member(bytes, 0, maxBytes);
    if (isSluiceError(first) || this.#end === bytes.length) return first;
    if (compression === 'gzip' && isGzip(bytes, this.#end)) return this.#furtherMembers(bytes, first, maxBytes);
    this.#trailingIgnored += 1;
    return first;
  }

  #furtherMembers(bytes: Buffer, first: Buffer, maxBytes: number): Buffer | SluiceError {
    const parts = [first];
    let total = first.length;
    while (isGzip(bytes, this.#end)) {
      if (parts.length === maxGzipMembers)
        return receiverErrors.create('INFLATE_MEMBERS_TOO_MANY', { allowed: `${maxGzipMembers} members` });
      const part = this.#member(bytes, this.#end, maxBytes - total);
      if (isSluiceError(part)) return part.code === 'INFLATED_TOO_LARGE' ? tooLarge(maxBytes) : part;
      parts.push(part);
      total += part.length;
    }
    if (this.#end < bytes.length) this.#trailingIgnored += 1;
    return Buffer.concat(parts, total);
  }

  /** One stream, in slices of input so that the output stays bounded. */
  #member(bytes: Buffer, from: number, maxBytes: number): Buffer | SluiceError {
    const engine = this.#engine;
    engine.reset();
    let parts: Buffer[] | undefined;
    let total = 0;
    for (let at = from; at < bytes.length; at += sliceBytes) {
      const last = Math.min(at + sliceBytes, bytes.length);
      engine.push(at === 0 && last === bytes.length ? bytes : bytes.subarray(at, last), syncFlush);
      const outcome = engine.err;
      const part = engine.result;
      if (outcome === dataError || outcome === needDictionary) return receiverErrors.create('INFLATE_CORRUPT');
      if (part === null) continue;
      total += part.length;
      if (total > maxBytes) return tooLarge(maxBytes);
      if (outcome === streamEnd) {
        this.#end = last - engine.remaining;
        return parts === undefined ? part : Buffer.concat([...parts, part], total);
      }
      (parts ??= []).push(part);
    }
    return receiverErrors.create('INFLATE_TRUNCATED', { got: `${bytes.length - from} bytes` });
  }
}

function tooLarge(maxBytes: number): SluiceError {
  return receiverErrors.create('INFLATED_TOO_LARGE', { allowed: `${maxBytes} bytes (max_inflated_bytes)` });
}
