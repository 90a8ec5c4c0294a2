/** Compression of record batches, synchronous, for our own appends and for what kafkajs fetches. */
import { gunzipSync, gzipSync } from 'node:zlib';
import kafkajs from 'kafkajs';
import { compressFrameSync, decompressFrameSync } from 'lz4-napi';
import { compressSync, uncompressSync } from 'snappy';

export type Compression = 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd';

export interface Codec {
  /** Bits 0 to 2 of a record batch's attributes. */
  readonly attribute: number;
  compress(bytes: Buffer): Buffer;
  decompress(bytes: Buffer): Buffer;
}

/** Level 1: level 6 costs 2.5 times the time for a tenth fewer bytes. */
const gzip: Codec = {
  attribute: 1,
  compress: (bytes) => gzipSync(bytes, { level: 1 }),
  decompress: (bytes) => gunzipSync(bytes),
};
const snappy: Codec = { attribute: 2, compress: (bytes) => compressSync(bytes), decompress: uncompressSnappy };
const lz4: Codec = {
  attribute: 3,
  compress: (bytes) => compressFrameSync(bytes),
  decompress: (bytes) => decompressFrameSync(bytes),
};

/**
 * Java peers frame snappy as xerial's stream: magic, two versions of 4 bytes, then blocks of a 4-byte length and raw
 * snappy.
 */
const xerialMagic = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]);
const xerialHeaderBytes = 16;

function uncompressSnappy(bytes: Buffer): Buffer {
  if (bytes.length < xerialHeaderBytes || !bytes.subarray(0, xerialMagic.length).equals(xerialMagic))
    return uncompressSync(bytes, { asBuffer: true }) as Buffer;
  const blocks: Buffer[] = [];
  let position = xerialHeaderBytes;
  while (position + 4 <= bytes.length) {
    const end = position + 4 + bytes.readUInt32BE(position);
    blocks.push(uncompressSync(bytes.subarray(position + 4, end), { asBuffer: true }) as Buffer);
    position = end;
  }
  return Buffer.concat(blocks);
}

/** Copies results out element by element as published, 150 ms a megabyte; as one block it is a hundredth of that. */
interface ZstdMemory {
  readonly _module: { readonly HEAPU8: Uint8Array };
  heapToUint8Array: (data: { readonly ptr: number; readonly size: number }) => Uint8Array;
}

/** zstd is WebAssembly that must be compiled first. Level 1: what topics are for is speed. */
async function loadZstd(): Promise<Codec> {
  const { Zstd } = await import('@hpcc-js/wasm-zstd');
  const zstd = await Zstd.load();
  const { _mainModule: memory } = zstd as unknown as { readonly _mainModule: ZstdMemory };
  memory.heapToUint8Array = ({ ptr, size }) => memory._module.HEAPU8.slice(ptr, ptr + size);
  const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    attribute: 4,
    compress: (bytes) => asBuffer(zstd.compress(bytes, 1)),
    decompress: (bytes) => asBuffer(zstd.decompress(bytes)),
  };
}

let loaded: Promise<ReadonlyMap<Compression, Codec>> | undefined;

/** Every codec by name, once a process; makes kafkajs read all of them. `none` has no codec. */
export async function loadCodecs(): Promise<ReadonlyMap<Compression, Codec>> {
  loaded ??= loadZstd().then((zstd) => {
    const codecs = new Map<Compression, Codec>([
      ['gzip', gzip],
      ['snappy', snappy],
      ['lz4', lz4],
      ['zstd', zstd],
    ]);
    for (const codec of codecs.values()) registerWithKafkajs(codec);
    return codecs;
  });
  return loaded;
}

function registerWithKafkajs(codec: Codec): void {
  kafkajs.CompressionCodecs[codec.attribute as keyof typeof kafkajs.CompressionCodecs] = () => ({
    compress: async (encoder: { readonly buffer: Buffer }) => codec.compress(encoder.buffer),
    decompress: async (bytes: Buffer) => codec.decompress(bytes),
  });
}

/** Needs `loadCodecs` to have resolved. Undefined: not compressed. */
export function codecByAttribute(codecs: ReadonlyMap<Compression, Codec>): (attribute: number) => Codec | undefined {
  const byAttribute = new Map([...codecs.values()].map((codec) => [codec.attribute, codec]));
  return (attribute) => byAttribute.get(attribute);
}
