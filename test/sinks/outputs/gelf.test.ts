import { gunzipSync, inflateSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { createChunkIds, createGelfDatagramEncoder } from '../../../sinks/outputs/gelf/datagrams.js';
import { createGelfRequestEncoder, singleLine } from '../../../sinks/outputs/gelf/requests.js';
import { shortenGelf } from '../../../sinks/outputs/gelf/shorten.js';
import { createGelfStreamEncoder } from '../../../sinks/outputs/gelf/stream.js';
import { outputOf, recordOf } from './settings.js';

const ignore = (): void => undefined;

t.test('TCP: each message as it came, and a NUL byte behind it', async (t) => {
  const values = ['{"a":1 }', '{"short_message":"grün"}'];
  const { parcel, to } = createGelfStreamEncoder().encode(
    values.map((value, at) => recordOf(value, at * 3)),
    0,
  );
  t.equal(parcel.parts[0]?.toString(), `${values.join('\0')}\0`);
  t.match({ to, parcel }, { to: 2, parcel: { messages: 2, nextOffset: 4, bytes: parcel.parts[0]?.length ?? -1 } });
  const odd = createGelfStreamEncoder().encode([recordOf('{"short_message":"a\0b\0"}')], 0);
  t.equal(
    odd.parcel.parts[0]?.toString(),
    '{"short_message":"a\\u0000b\\u0000"}\0',
    'a raw NUL within a text ends no message',
  );
});

t.test('TCP: parcels are bounded by bytes and by messages, one message always fits', async (t) => {
  const encoder = createGelfStreamEncoder();
  t.equal(
    encoder.encode(
      Array.from({ length: 2_000 }, (_, at) => recordOf('{}', at)),
      0,
    ).to,
    512,
  );
  t.equal(encoder.encode([recordOf('x'.repeat(200_000)), recordOf('y', 1)], 0).to, 1);
});

t.test('UDP: one datagram, or chunks of the set size', async (t) => {
  for (const compression of ['none', 'gzip', 'zlib'] as const) {
    const encoder = createGelfDatagramEncoder(
      outputOf({ protocol: 'udp', gelf: { compression, datagram_bytes: 200 } }).gelf,
      { overLong: ignore },
    );
    const random = Array.from({ length: 400 }, (_, at) => Math.sin(at).toString(36).slice(2, 6)).join('');
    for (const text of ['{"short_message":"x"}', JSON.stringify({ short_message: random }), 'y'.repeat(188 * 3)]) {
      const { parcel } = encoder.encode([recordOf(text)], 0);
      t.ok(
        parcel.parts.every((part) => part.length <= 200),
        `${compression}: none larger than set`,
      );
      const chunks = parcel.parts.filter((part) => part[0] === 0x1e && part[1] === 0x0f);
      t.ok(
        chunks.every(
          (part, at) =>
            part[10] === at &&
            part[11] === parcel.parts.length &&
            part.subarray(2, 10).equals((chunks[0] as Buffer).subarray(2, 10)),
        ),
      );
      const joined = Buffer.concat(chunks.length === 0 ? parcel.parts : chunks.map((part) => part.subarray(12)));
      const plain = compression === 'none' ? joined : compression === 'gzip' ? gunzipSync(joined) : inflateSync(joined);
      t.equal(plain.toString(), text);
    }
  }
});

t.test('UDP: ids of chunked messages differ', async (t) => {
  const next = createChunkIds();
  t.equal(new Set(Array.from({ length: 1_000 }, () => next().toString('hex'))).size, 1_000);
});

t.test('UDP: what 128 chunks cannot hold follows the setting and is counted', async (t) => {
  const text = JSON.stringify({
    version: '1.1',
    host: 'h',
    short_message: 's',
    full_message: 'é"\n'.repeat(20_000),
    _n: 1,
  });
  const counts: string[] = [];
  const make = (over_long: string) =>
    createGelfDatagramEncoder(
      outputOf({ protocol: 'udp', gelf: { compression: 'none', datagram_bytes: 256, over_long } }).gelf,
      {
        overLong: (kind) => {
          counts.push(kind);
        },
      },
    );
  const { parcel } = make('truncate').encode([recordOf(text)], 0);
  const message = JSON.parse(Buffer.concat(parcel.parts.map((part) => part.subarray(12))).toString()) as Record<
    string,
    unknown
  >;
  t.match(message, { host: 'h', short_message: 's', _n: 1, full_message: /^é"\n.* \[cut\]$/s });
  t.ok(parcel.parts.length > 120, 'as much as fits is kept');
  t.match(make('drop').encode([recordOf(text)], 0).parcel, { parts: [], messages: 0, nextOffset: 1 });
  t.same(counts, ['truncated', 'dropped']);
});

t.test('shortening keeps JSON valid and within the bound', async (t) => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.oneof(fc.string({ unit: 'binary', maxLength: 2_000 }), fc.integer())),
      fc.integer({ min: 20, max: 3_000 }),
      (root, most) => {
        const shortened = shortenGelf(JSON.stringify(root), most);
        if (shortened === undefined) return true;
        JSON.parse(shortened);
        return Buffer.byteLength(shortened) <= most;
      },
    ),
    { numRuns: 500 },
  );
  t.equal(shortenGelf('{"a":1}', 3), undefined);
});

t.test('HTTP: a line each', async (t) => {
  t.equal(singleLine(Buffer.from('{\n "a":"x\ny\\"\\\\",\r\n"b":1}')).toString(), '{  "a":"x\\ny\\"\\\\",  "b":1}');
  const encoder = createGelfRequestEncoder(outputOf({ protocol: 'http', gelf: { messages_per_request: 2 } }).gelf);
  t.same(encoder.encode([recordOf('{"a":\n1}'), recordOf('{}', 1), recordOf('{}', 2)], 0).parcel.parts.map(String), [
    '{"a": 1}',
    '{}',
  ]);
});
