/** The bytes of segment files: what goes in comes out, whatever is cut off or damaged. */
import { readdir, readFile, stat, truncate, writeFile, appendFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { Registry } from '../../../core/metrics.js';
import type { ConsumedRecord, TopicRecord } from '../../../topics/contract.js';
import {
  checkFrame,
  decodeHeader,
  encodeFrames,
  headerBytes,
  RecordCursor,
  recordBound,
} from '../../../topics/embedded/frame.js';
import { createRecords, readAll, topicSpec } from '../collect.js';
import { createFolder, createLog, metricValue, startLog } from './folder.js';

const seed = 20261121;
const readable = ({ key, value, timestamp, origin }: TopicRecord) => ({
  key,
  value: value.toString('base64'),
  timestamp,
  origin,
});

const record = fc.record({
  key: fc.string({ unit: 'binary-ascii', maxLength: 255 }),
  value: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  timestamp: fc.oneof(fc.constant(1_700_000_000_000), fc.integer(), fc.double({ noNaN: true })),
  origin: fc.oneof(fc.constant('gelf-tcp 127.0.0.1:1'), fc.string({ unit: 'grapheme', maxLength: 40 })),
});

function decodeAll(frames: Buffer): ConsumedRecord[] {
  const cursor = new RecordCursor();
  const records: ConsumedRecord[] = [];
  for (let position = 0; position < frames.length; ) {
    const header = decodeHeader(frames, position);
    if (header === undefined || !checkFrame(frames, position, header)) throw new Error(`no frame at ${position}`);
    if (header.lead !== position) throw new Error(`wrong lead ${header.lead} at ${position}`);
    cursor.load(frames, position, header);
    while (cursor.left > 0) records.push(cursor.next());
    position += header.bytes;
  }
  return records;
}

t.test('records come out of frames as they went in', (test) => {
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 40 }), fc.nat(2 ** 50), (records, baseOffset) => {
      const bound = records.reduce((sum, each) => sum + recordBound(each) + headerBytes, 0);
      const target = Buffer.alloc(bound, 0xee);
      const decoded = decodeAll(target.subarray(0, encodeFrames(target, records, baseOffset)));
      test.strictSame(decoded.map(readable), records.map(readable));
      test.strictSame(
        decoded.map(({ offset }) => offset),
        records.map((_, index) => baseOffset + index),
      );
    }),
    { seed, numRuns: 200 },
  );
  test.end();
});

t.test('a frame is closed at its largest size, and a larger record has one for itself', (test) => {
  const records = [400_000, 400_000, 400_000, 3_000_000, 10].map((bytes, index) => ({
    key: `k${index}`,
    value: randomBytes(bytes),
    timestamp: index,
    origin: 'o',
  }));
  const target = Buffer.alloc(5_000_000);
  const frames = target.subarray(0, encodeFrames(target, records, 7));
  test.same(decodeAll(frames).map(readable), records.map(readable));
  const counts: number[] = [];
  for (let position = 0; position < frames.length; ) {
    const header = decodeHeader(frames, position);
    counts.push(header?.count ?? 0);
    position += header?.bytes ?? frames.length;
  }
  test.same(counts, [2, 1, 1, 1]);
  test.end();
});

/**
 * A log with one topic whose one segment was written by appends of these sizes; `ends` are the file sizes after each.
 */
async function createSegment(
  test: Test,
  sizes: readonly number[],
): Promise<{ folder: string; file: string; ends: number[] }> {
  const folder = await createFolder(test);
  const log = await startLog(test, folder, { segmentBytes: 2 ** 30 });
  await log.ensureTopics([topicSpec('logs')]);
  const partition = join(folder, 'topics', 'logs', '0');
  const ends: number[] = [];
  let [file, from] = ['', 0];
  for (const size of sizes) {
    await log.append('logs', 0, createRecords(from, size));
    from += size;
    file = join(partition, (await readdir(partition))[0] ?? '');
    ends.push((await stat(file)).size);
  }
  await log.stop(1000);
  return { folder, file, ends };
}

const sizes = [3, 1, 5, 2, 4];
const startsOf = (counts: readonly number[]) =>
  counts.map((_, index) => counts.slice(0, index).reduce((sum, count) => sum + count, 0));

t.test('whatever is cut off the end, the whole appends before it stay and the log goes on after them', async (test) => {
  const { folder, file, ends } = await createSegment(test, sizes);
  const whole = await readFile(file);
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length), async (length) => {
      await writeFile(file, whole);
      await truncate(file, length);
      const kept = sizes.slice(0, ends.filter((end) => end <= length).length).reduce((sum, count) => sum + count, 0);
      const beside = await readAll(createLog(test, folder, { readOnly: true }), 'logs');
      test.equal(beside.length, kept);
      const log = await startLog(test, folder, { segmentBytes: 2 ** 30 });
      await log.append('logs', 0, createRecords(kept, 2));
      test.strictSame(
        (await readAll(log, 'logs')).map(({ offset, key }) => `${offset} ${key}`),
        createRecords(0, kept + 2).map(({ key }, index) => `${index} ${key}`),
      );
      await log.stop(1000);
    }),
    { seed, numRuns: 40 },
  );
});

t.test('garbage behind the last append is cut off and counted', async (test) => {
  const { folder, file, ends } = await createSegment(test, sizes);
  const whole = await readFile(file);
  const unsynced = Buffer.concat([whole.subarray(0, 50), Buffer.alloc(100), whole.subarray(50, 90)]);
  for (const garbage of [
    Buffer.alloc(10_000),
    randomBytes(10_000),
    whole.subarray(0, 40),
    unsynced,
    Buffer.from([1]),
  ]) {
    await writeFile(file, whole);
    await appendFile(file, garbage);
    const registry = new Registry();
    const log = await startLog(test, folder, { segmentBytes: 2 ** 30, registry });
    test.equal((await readAll(log, 'logs')).length, 15);
    test.equal((await stat(file)).size, ends.at(-1));
    test.equal(await metricValue(registry, 'sluice_topic_torn_bytes_cut_total', { topic: 'logs' }), garbage.length);
    await log.stop(1000);
  }
});

t.test('a damaged byte costs its own append and no other', async (test) => {
  const { folder, file, ends } = await createSegment(test, sizes);
  const whole = await readFile(file);
  const starts = startsOf(sizes);
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (position, change) => {
      const damaged = Buffer.from(whole);
      damaged[position] = (damaged[position] as number) ^ change;
      await writeFile(file, damaged);
      const hit = ends.findIndex((end) => position < end);
      const expected = starts.flatMap((start, index) =>
        index === hit ? [] : Array.from({ length: sizes[index] as number }, (_, each) => start + each),
      );
      const log = await startLog(test, folder, { segmentBytes: 2 ** 30 });
      test.strictSame(
        (await readAll(log, 'logs')).map(({ offset }) => offset),
        expected,
        `byte ${position} ^ ${change}, append ${hit}`,
      );
      await log.stop(1000);
    }),
    { seed, numRuns: 60 },
  );
});
