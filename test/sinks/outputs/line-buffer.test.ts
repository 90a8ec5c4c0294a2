import fc from 'fast-check';
import t from 'tap';
import { createLineBuffer } from '../../../sinks/outputs/syslog/line-buffer.js';

t.test('whatever lines hold, their counts are bytes, and each parcel holds its own lines only', async (t) => {
  const buffer = createLineBuffer();
  const line = fc.oneof(
    fc.string({ maxLength: 120 }),
    fc.string({ unit: 'binary', maxLength: 120 }),
    fc.nat(1_100).map((length) => 'x'.repeat(length)),
    fc.nat(400).map((length) => 'é€'.repeat(length)),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
      for (const one of lines) buffer.addCounted(one);
      const counted = buffer.take();
      for (const one of lines) buffer.addEnded(one);
      const ended = buffer.take();
      return (
        counted.equals(Buffer.from(lines.map((one) => `${Buffer.byteLength(one)} ${one}`).join(''))) &&
        ended.equals(Buffer.from(lines.map((one) => `${one}\n`).join('')))
      );
    }),
    { numRuns: 500, seed: 20261121 },
  );
  t.equal(buffer.take().length, 0);
});

t.test('more than the usual room, and what was taken stays as it was', async (t) => {
  const buffer = createLineBuffer();
  const long = 'ü'.repeat(300_000);
  buffer.addCounted('first');
  buffer.addCounted(long);
  const taken = buffer.take();
  buffer.addEnded('after');
  t.ok(taken.equals(Buffer.from(`5 first600000 ${long}`)));
  t.equal(buffer.take().toString(), 'after\n');
});
