/**
 * Inflates with node:zlib, where zlib-sync is missing. Reads gzip members itself, because node:zlib has its own mind
 * about what follows them.
 */
import zlib from 'node:zlib';
import { errorCode, isSluiceError, type SluiceError } from '../../core/errors.js';
import { receiverErrors } from '../errors.js';
import { compressionOf, isGzip, maxGzipMembers, type Inflater } from './contract.js';

/** What the synchronous calls return with `info: true`; the types of Node.js do not know it. */
interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}
interface Member {
  readonly data: Buffer;
  readonly end: number;
}

export function createNodeZlibInflater(): Inflater {
  return new NodeZlibInflater();
}

class NodeZlibInflater implements Inflater {
  readonly name = 'node:zlib';
  #trailingIgnored = 0;

  get trailingIgnored(): number {
    return this.#trailingIgnored;
  }

  inflate(bytes: Buffer, maxBytes: number): Buffer | SluiceError {
    const compression = compressionOf(bytes);
    if (compression !== 'gzip' && compression !== 'zlib')
      return receiverErrors.create('INFLATE_UNSUPPORTED', { got: `the bytes ${bytes.subarray(0, 4).toString('hex')}` });
    const first = compression === 'gzip' ? gzipMember(bytes, 0, maxBytes, maxBytes) : zlibStream(bytes, maxBytes);
    if (isSluiceError(first) || first.end === bytes.length) return isSluiceError(first) ? first : first.data;
    if (compression === 'gzip' && isGzip(bytes, first.end)) return this.#furtherMembers(bytes, first, maxBytes);
    this.#trailingIgnored += 1;
    return first.data;
  }

  #furtherMembers(bytes: Buffer, first: Member, maxBytes: number): Buffer | SluiceError {
    const parts = [first.data];
    let total = first.data.length;
    let end = first.end;
    while (isGzip(bytes, end)) {
      if (parts.length === maxGzipMembers)
        return receiverErrors.create('INFLATE_MEMBERS_TOO_MANY', { allowed: `${maxGzipMembers} members` });
      const member = gzipMember(bytes, end, maxBytes - total, maxBytes);
      if (isSluiceError(member)) return member;
      parts.push(member.data);
      total += member.data.length;
      end = member.end;
    }
    if (end < bytes.length) this.#trailingIgnored += 1;
    return Buffer.concat(parts, total);
  }
}

function zlibStream(bytes: Buffer, maxBytes: number): Member | SluiceError {
  try {
    const { buffer, engine } = zlib.inflateSync(bytes, options(maxBytes)) as unknown as Inflated;
    if (buffer.length > maxBytes) return tooLarge(maxBytes);
    return { data: buffer, end: engine.bytesWritten };
  } catch (thrown) {
    return explain(thrown, bytes.length, maxBytes);
  }
}

/** RFC 1952 2.3: header, deflate data, CRC-32 and length of the data. */
function gzipMember(bytes: Buffer, from: number, room: number, maxBytes: number): Member | SluiceError {
  const start = gzipHeaderEnd(bytes, from);
  if (isSluiceError(start)) return start;
  try {
    const { buffer, engine } = zlib.inflateRawSync(bytes.subarray(start), options(room)) as unknown as Inflated;
    if (buffer.length > room) return tooLarge(maxBytes);
    const trailer = start + engine.bytesWritten;
    if (trailer + 4 <= bytes.length && bytes.readUInt32LE(trailer) !== zlib.crc32(buffer))
      return receiverErrors.create('INFLATE_CORRUPT');
    if (trailer + 8 > bytes.length) return truncated(bytes.length - from);
    if (bytes.readUInt32LE(trailer + 4) !== buffer.length) return receiverErrors.create('INFLATE_CORRUPT');
    return { data: buffer, end: trailer + 8 };
  } catch (thrown) {
    return explain(thrown, bytes.length - from, maxBytes);
  }
}

const deflateMethod = 8;
const flagHeaderCrc = 0x02;
const flagExtra = 0x04;
const flagName = 0x08;
const flagComment = 0x10;
const reservedFlags = 0xe0;

function gzipHeaderEnd(bytes: Buffer, from: number): number | SluiceError {
  const flags = bytes[from + 3];
  if (flags === undefined) return truncated(bytes.length - from);
  if (bytes[from + 2] !== deflateMethod || (flags & reservedFlags) !== 0)
    return receiverErrors.create('INFLATE_CORRUPT');
  let at = from + 10;
  if ((flags & flagExtra) !== 0) at += at + 2 <= bytes.length ? 2 + bytes.readUInt16LE(at) : bytes.length;
  for (const flag of [flagName, flagComment]) {
    if ((flags & flag) === 0) continue;
    const nul = bytes.indexOf(0, at);
    at = nul === -1 ? bytes.length + 1 : nul + 1;
  }
  if ((flags & flagHeaderCrc) !== 0) {
    if (at + 2 > bytes.length) return truncated(bytes.length - from);
    if (bytes.readUInt16LE(at) !== (zlib.crc32(bytes.subarray(from, at)) & 0xffff))
      return receiverErrors.create('INFLATE_CORRUPT');
    at += 2;
  }
  return at >= bytes.length ? truncated(bytes.length - from) : at;
}

function options(maxBytes: number): zlib.ZlibOptions {
  return { maxOutputLength: Math.max(maxBytes, 1), info: true };
}

function explain(thrown: unknown, length: number, maxBytes: number): SluiceError {
  const code = errorCode(thrown);
  if (code === 'ERR_BUFFER_TOO_LARGE') return tooLarge(maxBytes);
  return code === 'Z_BUF_ERROR' ? truncated(length) : receiverErrors.create('INFLATE_CORRUPT');
}

function truncated(length: number): SluiceError {
  return receiverErrors.create('INFLATE_TRUNCATED', { got: `${length} bytes` });
}

function tooLarge(maxBytes: number): SluiceError {
  return receiverErrors.create('INFLATED_TOO_LARGE', { allowed: `${maxBytes} bytes (max_inflated_bytes)` });
}
