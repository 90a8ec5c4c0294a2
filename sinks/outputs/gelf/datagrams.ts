/**
 * GELF over UDP: each message compressed for itself, in one datagram or in chunks. A chunk (GELF 1.1): 0x1e 0x0f,
 * message id of 8 bytes, number of the chunk from 0, number of chunks; 128 at most.
 */
import { randomBytes } from 'node:crypto';
import { deflateSync, gzipSync } from 'node:zlib';
import { at } from '../../../core/at.js';
import type { GelfOutputSettings } from '../../../schemas/outputs/gelf.js';
import type { EncodeContext, Encoder } from '../contract.js';
import { nextOffsetOf, parcelEnd } from '../parcels.js';
import { shortenGelf } from './shorten.js';

const maxChunks = 128;
const chunkHeaderBytes = 12;
/** What compression adds to bytes that it cannot make smaller. */
const compressionOverhead = 64;
/** Datagrams go out together; few enough that one that fails does not send many again. */
const parcelDatagrams = 64;

const compressors: Readonly<Record<GelfOutputSettings['compression'], (value: Buffer) => Buffer>> = {
  none: (value) => value,
  gzip: (value) => gzipSync(value),
  zlib: (value) => deflateSync(value),
};

type NextId = () => Buffer;

/**
 * Ids that no other sender behind the same address is likely to use at the same time. The first bytes change first:
 * some receivers look at no more.
 */
export function createChunkIds(): NextId {
  const id = randomBytes(8);
  return () => {
    id.writeUInt32LE((id.readUInt32LE(0) + 1) >>> 0, 0);
    return id;
  };
}

/** Undefined when 128 chunks cannot hold it. */
function chunked(payload: Buffer, datagramBytes: number, nextId: NextId): readonly Buffer[] | undefined {
  if (payload.length <= datagramBytes) return [payload];
  const size = datagramBytes - chunkHeaderBytes;
  const count = Math.ceil(payload.length / size);
  if (count > maxChunks) return undefined;
  const id = nextId();
  return Array.from({ length: count }, (_, number) => {
    const data = payload.subarray(number * size, (number + 1) * size);
    const datagram = Buffer.allocUnsafe(chunkHeaderBytes + data.length);
    datagram[0] = 0x1e;
    datagram[1] = 0x0f;
    id.copy(datagram, 2);
    datagram[10] = number;
    datagram[11] = count;
    data.copy(datagram, chunkHeaderBytes);
    return datagram;
  });
}

export function createGelfDatagramEncoder(
  settings: GelfOutputSettings,
  { overLong }: Pick<EncodeContext, 'overLong'>,
  nextId: NextId = createChunkIds(),
): Encoder {
  const { datagram_bytes: datagramBytes, over_long: policy } = settings;
  const compress = compressors[settings.compression];
  const room = maxChunks * (datagramBytes - chunkHeaderBytes) - compressionOverhead;

  const shorter = (value: Buffer): readonly Buffer[] => {
    const text = policy === 'truncate' ? shortenGelf(value.toString('utf8'), room) : undefined;
    const datagrams = text === undefined ? undefined : chunked(compress(Buffer.from(text)), datagramBytes, nextId);
    overLong(datagrams === undefined ? 'dropped' : 'truncated', 1);
    return datagrams ?? [];
  };

  return {
    encode(records, from) {
      const to = parcelEnd(records, from, parcelDatagrams);
      const parts: Buffer[] = [];
      let messages = 0;
      let bytes = 0;
      for (let index = from; index < to; index += 1) {
        const { value } = at(records, index);
        const datagrams = chunked(compress(value), datagramBytes, nextId) ?? shorter(value);
        if (datagrams.length > 0) messages += 1;
        for (const datagram of datagrams) {
          parts.push(datagram);
          bytes += datagram.length;
        }
      }
      return { to, parcel: { parts, bytes, messages, nextOffset: nextOffsetOf(records, to) } };
    },
  };
}
