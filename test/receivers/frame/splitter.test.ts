import fc from 'fast-check';
import t from 'tap';
import { createFrameSplitter, type Delimiter, type OversizeFrame } from '../../../receivers/frame/splitter.js';

interface Outcome {
  readonly frames: readonly string[];
  readonly oversize: readonly { readonly head: string; readonly totalBytes: number }[];
  readonly empty: number;
}

function split(chunks: readonly Buffer[], delimiter: Delimiter, maxFrameBytes = 1000): Outcome {
  const splitter = createFrameSplitter({ delimiter, maxFrameBytes });
  const frames: string[] = [];
  const oversize: OversizeFrame[] = [];
  for (const chunk of chunks) {
    const found: Buffer[] = [];
    const reused = Buffer.from(chunk);
    splitter.feed(reused, { frames: found, oversize });
    frames.push(...found.map((frame) => frame.toString('latin1')));
    reused.fill(0x21);
  }
  const found: Buffer[] = [];
  splitter.end({ frames: found, oversize });
  frames.push(...found.map((frame) => frame.toString('latin1')));
  return {
    frames,
    oversize: oversize.map(({ head, totalBytes }) => ({ head: head.toString('latin1'), totalBytes })),
    empty: splitter.emptyFrames,
  };
}

const bytes = (text: string) => Buffer.from(text, 'latin1');
const framesOf = (delimiter: Delimiter, ...chunks: string[]) => split(chunks.map(bytes), delimiter).frames;

t.test('frames come whole however the reads are cut', async (t) => {
  const cases: readonly { title: string; delimiter: Delimiter; chunks: string[]; want: string[] }[] = [
    { title: 'two frames in one read', delimiter: 'null', chunks: ['a\0b\0'], want: ['a', 'b'] },
    { title: 'one frame over three reads', delimiter: 'null', chunks: ['a', 'b', 'c\0'], want: ['abc'] },
    { title: 'the last frame without delimiter', delimiter: 'null', chunks: ['a\0b'], want: ['a', 'b'] },
    { title: 'NUL and newline between frames', delimiter: 'null', chunks: ['a\0\nb\0\n'], want: ['a', 'b'] },
    { title: 'white space before a frame', delimiter: 'null', chunks: ['  \r\n a\0'], want: ['a'] },
    {
      title: 'white space behind a frame stays, since it may be the end of compressed bytes',
      delimiter: 'null',
      chunks: ['a \0'],
      want: ['a '],
    },
    { title: 'newlines within a NUL frame', delimiter: 'null', chunks: ['a\nb\n\0'], want: ['a\nb\n'] },
    {
      title: 'carriage return and newline',
      delimiter: 'newline',
      chunks: ['first\r\nsecond\nthird'],
      want: ['first', 'second', 'third'],
    },
    {
      title: 'reads that end within a word',
      delimiter: 'newline',
      chunks: ['Test', 'Line\r\ng\r\n'],
      want: ['TestLine', 'g'],
    },
    {
      title: 'a read that ends between carriage return and newline',
      delimiter: 'newline',
      chunks: ['huu', 'haa\r', '\nhuuhaa\r\n'],
      want: ['huuhaa', 'huuhaa'],
    },
    { title: 'a blank line first', delimiter: 'newline', chunks: ['\nabcna\r\n'], want: ['abcna'] },
    { title: 'NUL within a newline frame', delimiter: 'newline', chunks: ['a\0b\n'], want: ['a\0b'] },
  ];
  for (const { title, delimiter, chunks, want } of cases) t.same(framesOf(delimiter, ...chunks), want, title);
});

t.test('empty frames are skipped and counted', async (t) => {
  t.match(split([bytes('\0\0a\0\0 \n\0')], 'null'), { frames: ['a'], empty: 4 });
  t.match(split([bytes('\n\r\na\n \n')], 'newline'), { frames: ['a'], empty: 3 });
});

t.test('a frame of exactly the limit passes, and one byte more is refused', async (t) => {
  t.match(split([bytes(`${'x'.repeat(10)}\0`)], 'null', 10), { frames: ['x'.repeat(10)], oversize: [] });
  t.match(split([bytes(`${'x'.repeat(11)}\0`)], 'null', 10), { frames: [], oversize: [{ totalBytes: 11 }] });
  t.match(split([bytes(`${'x'.repeat(10)}\r\n`)], 'newline', 10), { frames: ['x'.repeat(10)], oversize: [] });
});

t.test(
  'an oversize frame is reported once, costs its bytes only up to the head, and the next frame is delivered',
  async (t) => {
    const splitter = createFrameSplitter({ delimiter: 'null', maxFrameBytes: 100_000 });
    const frames: Buffer[] = [];
    const oversize: OversizeFrame[] = [];
    const block = Buffer.alloc(1000, 'x');
    let most = 0;
    for (let n = 0; n < 5000; n += 1) {
      splitter.feed(block, { frames, oversize });
      most = Math.max(most, splitter.waitingBytes);
    }
    t.same(oversize, [], 'not before its delimiter');
    splitter.feed(bytes('xx\0next\0'), { frames, oversize });
    t.equal(oversize.length, 1);
    t.match(oversize[0], { totalBytes: 5_000_002 });
    t.equal(oversize[0]?.head.length, 65_536);
    t.same(frames.map(String), ['next']);
    t.ok(most <= 100_001, `kept ${most} bytes`);
  },
);

t.test('a frame within one read is a view, and a large one byte by byte takes linear time', async (t) => {
  const splitter = createFrameSplitter({ delimiter: 'null', maxFrameBytes: 2 ** 21 });
  const frames: Buffer[] = [];
  const chunk = bytes('abc\0');
  splitter.feed(chunk, { frames, oversize: [] });
  t.equal(frames[0]?.buffer, chunk.buffer);
  const started = process.cpuUsage();
  const one = bytes('x');
  for (let n = 0; n < 2 ** 20; n += 1) splitter.feed(one, { frames, oversize: [] });
  splitter.end({ frames, oversize: [] });
  t.equal(frames[1]?.length, 2 ** 20);
  t.ok(process.cpuUsage(started).user < 5e6);
});

t.test('the outcome is the same at every split point', async (t) => {
  const alphabet = fc.constantFrom('a', 'b', '{', '\0', '\n', '\r', ' ');
  const stream = fc.array(alphabet, { maxLength: 60 }).map((letters) => letters.join(''));
  const cuts = fc.array(fc.nat(60), { maxLength: 8 });
  fc.assert(
    fc.property(
      stream,
      cuts,
      fc.constantFrom<Delimiter>('null', 'newline'),
      fc.integer({ min: 1, max: 12 }),
      (text, points, delimiter, max) => {
        const whole = split([bytes(text)], delimiter, max);
        const sorted = [0, ...points.map((point) => Math.min(point, text.length)).sort((a, b) => a - b), text.length];
        const chunks = sorted.slice(1).map((end, index) => bytes(text.slice(sorted[index], end)));
        t.strictSame(split(chunks, delimiter, max), whole);
        t.strictSame(split([...text].map(bytes), delimiter, max), whole);
      },
    ),
    { seed: 20261121, numRuns: 300 },
  );
});
