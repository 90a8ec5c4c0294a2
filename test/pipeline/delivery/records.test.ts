import fc from 'fast-check';
import t from 'tap';
import { createRun, idPrefix, idWidth, mintId, sequenceOf } from '../../../core/message-ids.js';
import { cutRanges, isPassed, pruneRanges, spansOf, type Epoch } from '../../../pipeline/delivery/records.js';
import { checkResends, decodeSequences, encodeSequences, maxRuns } from '../../../pipeline/delivery/sequences.js';

const ids = (prefix: string, sequences: readonly number[]) =>
  sequences.map((sequence) => ({ key: mintId(prefix, sequence) }));
const run = createRun(1_700_000_000_000, Buffer.from('0a0b0c0d', 'hex'));
const prefix = idPrefix(run, 3);

t.test('ids have a fixed width, sort by sequence and give their sequence back', (t) => {
  t.equal(mintId(prefix, 255).length, idWidth);
  t.ok(mintId(prefix, 9) < mintId(prefix, 10) && mintId(prefix, 15) < mintId(prefix, 16));
  t.equal(sequenceOf(mintId(prefix, 255)), 255);
  for (const other of ['', 'x', `${mintId(prefix, 1)}@sluice_default`, 'a'.repeat(idWidth)])
    t.equal(sequenceOf(other), undefined, other);
  t.end();
});

t.test('a resend is skipped, a gap is counted, other keys pass', (t) => {
  const before = new Map([[prefix, 4]]);
  const check = checkResends([...ids(prefix, [3, 4, 5, 5, 6]), { key: 'foreign' }, ...ids(prefix, [9])], before);
  t.same([...check.resent], [0, 1, 3]);
  t.equal(check.missing, 2);
  t.equal(check.after.get(prefix), 9);
  t.equal(before.get(prefix), 4, 'the sequences before stay for a redelivery');
  t.end();
});

t.test('a run that is seen for the first time may begin anywhere', (t) => {
  t.equal(checkResends(ids(prefix, [70, 71]), new Map()).missing, 0);
  t.end();
});

t.test('sequences survive the commit metadata, within its limit', (t) => {
  const many = new Map(
    Array.from({ length: maxRuns }, (_, run) => [
      idPrefix(createRun(run, Buffer.from('00000000', 'hex')), 0xffff),
      0xff_ffff_ffff,
    ]),
  );
  const text = encodeSequences(many);
  t.ok(text.length <= 4000, `${text.length} characters`);
  t.same([...decodeSequences(text)], [...many]);
  t.equal(decodeSequences('').size + decodeSequences('other 12').size, 0);
  t.end();
});

t.test('the least recently seen run is forgotten past the limit, and counted', (t) => {
  const before = new Map(
    Array.from({ length: maxRuns }, (_, run) => [idPrefix(createRun(run, Buffer.from('00000000', 'hex')), 3), 1]),
  );
  const check = checkResends(ids(prefix, [0]), before);
  t.equal(check.evicted, 1);
  t.equal(check.after.has([...before.keys()][0] as string), false);
  t.end();
});

t.test('the spans of a batch cover it once and follow the ranges', (t) => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { minLength: 1, maxLength: 6 }), fc.nat(60), fc.nat(20), (cuts, from, length) => {
      const sorted = [...new Set(cuts)].sort((a, b) => a - b);
      const ranges = sorted.reduce<readonly { from: number; epoch: number }[]>(
        (all, at, epoch) => cutRanges(all, at, epoch),
        [],
      );
      const spans = spansOf(ranges, from, from + length);
      const offsets = spans.flatMap((span) =>
        Array.from({ length: span.to - span.from }, (_, step) => [span.from + step, span.epoch]),
      );
      const expected = Array.from({ length }, (_, step) => [
        from + step,
        Math.max(
          0,
          sorted.findLastIndex((at) => at <= from + step),
        ),
      ]);
      return JSON.stringify(offsets) === JSON.stringify(expected);
    }),
    { seed: 7 },
  );
  t.end();
});

t.test('pruning keeps the range of every offset that may still be delivered', (t) => {
  const ranges = [
    { from: 0, epoch: 0 },
    { from: 10, epoch: 1 },
    { from: 20, epoch: 2 },
  ];
  t.same(pruneRanges(ranges, 9), ranges);
  t.same(pruneRanges(ranges, 10), ranges.slice(1));
  t.same(pruneRanges(ranges, 99), ranges.slice(2));
  t.end();
});

t.test('an index is passed when no partition can be delivered to it any more', (t) => {
  const epoch = (number: number, index: string): [number, Epoch] => [
    number,
    { number, ruleSetVersion: 'r', indices: { set: index }, createdAt: 0, cause: 'rotation' },
  ];
  const epochs = new Map([epoch(0, 'set_0'), epoch(1, 'set_1')]);
  const record = {
    ranges: [
      { from: 0, epoch: 0 },
      { from: 10, epoch: 1 },
    ],
    owner: { incarnation: 0, groupGeneration: 1 },
    reserved: 100,
  };
  t.equal(isPassed('set_0', epochs, [{ record, committed: 10 }]), true);
  t.equal(isPassed('set_0', epochs, [{ record, committed: 9 }]), false);
  t.equal(
    isPassed('set_0', epochs, [
      { record, committed: 10 },
      { record, committed: undefined },
    ]),
    false,
    'one partition behind holds it',
  );
  t.equal(isPassed('set_1', epochs, [{ record, committed: 1000 }]), false, 'the newest range has no end');
  const three = new Map([...epochs, epoch(2, 'set_2')]);
  t.equal(
    isPassed('set_1', three, [{ record: { ...record, ranges: [{ from: 0, epoch: 0 }] }, committed: 1000 }]),
    false,
    'who has not heard of epoch 2 may still take epoch 1',
  );
  t.equal(
    isPassed('set_1', three, [
      {
        record: {
          ...record,
          ranges: [
            { from: 0, epoch: 0 },
            { from: 10, epoch: 2 },
          ],
        },
        committed: 1000,
      },
    ]),
    true,
  );
  t.end();
});
