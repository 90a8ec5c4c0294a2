/**
 * Compressed messages: what they are known by, and what inflates them. The only folder that touches zlib-sync, or
 * node:zlib for inflating.
 */
import type { SluiceError } from '../../core/errors.js';

export interface Inflater {
  readonly name: 'zlib-sync' | 'node:zlib';
  /**
   * The inflated bytes of a gzip stream (several members are joined) or a zlib stream; at most `maxBytes`, else
   * INFLATED_TOO_LARGE and never a cut message. Bytes behind the end of the stream are ignored and counted.
   * Synchronous, never throws; the result is an own buffer.
   */
  inflate(bytes: Buffer, maxBytes: number): Buffer | SluiceError;
  /** Messages so far that had bytes behind the end of their stream, which were ignored. */
  readonly trailingIgnored: number;
}

type Compression = 'none' | 'gzip' | 'zlib' | 'unsupported' | 'chunk';

/**
 * What the first two bytes say, as Graylog reads them: 1f 8b gzip, 78 xx zlib when the pair divides by 31 (RFC 1950
 * 2.2), 1e 0f a GELF chunk. Everything that begins with 1f, 78 or 1e otherwise, or as a zstd frame (28 b5), cannot be
 * JSON: unsupported.
 */
export function compressionOf(bytes: Buffer): Compression {
  const first = bytes[0];
  if (first !== 0x1f && first !== 0x78 && first !== 0x1e && first !== 0x28) return 'none';
  const second = bytes[1] ?? -1;
  if (first === 0x1f) return second === 0x8b ? 'gzip' : 'unsupported';
  if (first === 0x1e) return second === 0x0f ? 'chunk' : 'unsupported';
  if (first === 0x28) return second === 0xb5 ? 'unsupported' : 'none';
  return second !== -1 && (0x7800 + second) % 31 === 0 ? 'zlib' : 'unsupported';
}

/**
 * Members of one gzip stream; a sender that compresses each of its 128 chunks stays far below, a stream of empty ones
 * does not.
 */
export const maxGzipMembers = 1024;

export function isGzip(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0x1f && bytes[at + 1] === 0x8b;
}
