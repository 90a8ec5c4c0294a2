/** Inflates the body of a request by its Content-Encoding: what HTTP knows beyond the gzip and zlib of GELF. */
import zlib from 'node:zlib';
import { errorCode, isSluiceError, type SluiceError } from '../../core/errors.js';
import { receiverErrors } from '../errors.js';
import { compressionOf, type Inflater } from './contract.js';

type ZstdDecompress = (bytes: Buffer, options: { maxOutputLength: number }) => Buffer;
const zstdDecompress = (zlib as unknown as { zstdDecompressSync?: ZstdDecompress }).zstdDecompressSync;

/** Names this Node.js can undo; zstd came with Node.js 22.15. */
export const contentEncodings: readonly string[] = [
  'identity',
  'gzip',
  'x-gzip',
  'deflate',
  ...(zstdDecompress === undefined ? [] : ['zstd']),
];

/** Layers of compression that are undone; more than one is a mistake of the sender already. */
export const maxContentEncodings = 3;

/**
 * The plain bytes, at most `maxBytes`. Each of `encodings` (in the order of the header) is one of `contentEncodings`;
 * the last is undone first. A body that begins like gzip or zlib is inflated whether the header says so or not, and one
 * that is named compressed but is not is taken as it is: graypy sends a zlib body as `gzip,deflate`.
 */
export function inflateBody(
  bytes: Buffer,
  encodings: readonly string[],
  maxBytes: number,
  inflater: Inflater,
): Buffer | SluiceError {
  let body = bytes;
  for (const encoding of encodings.toReversed()) {
    const inflated = inflateLayer(body, encoding, maxBytes, inflater);
    if (isSluiceError(inflated)) return inflated;
    body = inflated;
  }
  return body;
}

function inflateLayer(bytes: Buffer, encoding: string, maxBytes: number, inflater: Inflater): Buffer | SluiceError {
  if (encoding === 'zstd' && zstdDecompress !== undefined)
    return bounded(() => zstdDecompress(bytes, { maxOutputLength: maxBytes }), maxBytes);
  const compression = compressionOf(bytes);
  if (encoding === 'deflate' && compression !== 'gzip') return inflateDeflate(bytes, maxBytes, inflater);
  if (compression === 'none') return bytes.length <= maxBytes ? bytes : tooLarge(maxBytes);
  return inflater.inflate(bytes, maxBytes);
}

/** RFC 9110 8.4.1.2 means zlib by deflate, and notes that some send it without the zlib wrapper. */
function inflateDeflate(bytes: Buffer, maxBytes: number, inflater: Inflater): Buffer | SluiceError {
  const first = compressionOf(bytes) === 'zlib' ? inflater.inflate(bytes, maxBytes) : undefined;
  if (first !== undefined && (!isSluiceError(first) || first.code === 'INFLATED_TOO_LARGE')) return first;
  if (looksLikeJson(bytes)) return bytes;
  const raw = bounded(() => zlib.inflateRawSync(bytes, { maxOutputLength: maxBytes }), maxBytes);
  return isSluiceError(raw) && first !== undefined ? first : raw;
}

function bounded(inflate: () => Buffer, maxBytes: number): Buffer | SluiceError {
  try {
    return inflate();
  } catch (thrown) {
    if (errorCode(thrown) === 'ERR_BUFFER_TOO_LARGE') return tooLarge(maxBytes);
    return receiverErrors.create('INFLATE_CORRUPT');
  }
}

function tooLarge(maxBytes: number): SluiceError {
  return receiverErrors.create('INFLATED_TOO_LARGE', { allowed: `${maxBytes} bytes (max_body_bytes)` });
}

/** No deflate stream of a message begins so: the second byte of JSON is white space, a quote or a bracket. */
function looksLikeJson(bytes: Buffer): boolean {
  const text = bytes.toString('latin1', 0, 64).trimStart();
  return /^[{[]\s*["{[\]}]/.test(text);
}
