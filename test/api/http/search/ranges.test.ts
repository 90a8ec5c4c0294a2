/** Time ranges in words, widths of time buckets, cells of CSV. */
import t from 'tap';
import { automaticInterval, parseInterval } from '../../../../api/http/search/times/intervals.js';
import { parseKeyword } from '../../../../api/http/search/times/keywords.js';
import { resolveRange } from '../../../../api/http/search/times/time-ranges.js';

/** A Wednesday. */
const now = Date.parse('2026-03-18T10:20:30.400Z');
const shown = (text: string, zone = 'UTC'): string | undefined => {
  const range = parseKeyword(text, zone, now);
  return range === undefined
    ? undefined
    : `${new Date(range.from ?? 0).toISOString()} ${new Date(range.to ?? 0).toISOString()}`;
};
const to = '2026-03-18T10:20:30.400Z';

t.test('time ranges in words', (t) => {
  for (const [text, want] of [
    ['last five minutes', `2026-03-18T10:15:30.400Z ${to}`],
    ['Last  5 Minutes', `2026-03-18T10:15:30.400Z ${to}`],
    ['the past hour', `2026-03-18T09:20:30.400Z ${to}`],
    ['last day', `2026-03-17T10:20:30.400Z ${to}`],
    ['last 2 weeks', `2026-03-04T10:20:30.400Z ${to}`],
    ['last month', `2026-02-18T10:20:30.400Z ${to}`],
    ['last year', `2025-03-18T10:20:30.400Z ${to}`],
    ['10 minutes ago', `2026-03-18T10:10:30.400Z ${to}`],
    ['an hour ago', `2026-03-18T09:20:30.400Z ${to}`],
    ['today', `2026-03-18T00:00:00.000Z ${to}`],
    ['yesterday', '2026-03-17T00:00:00.000Z 2026-03-18T00:00:00.000Z'],
    ['this week', `2026-03-16T00:00:00.000Z ${to}`],
    ['this month', `2026-03-01T00:00:00.000Z ${to}`],
    ['this hour', `2026-03-18T10:00:00.000Z ${to}`],
    ['2 days ago to 1 day ago', '2026-03-16T10:20:30.400Z 2026-03-17T10:20:30.400Z'],
    ['4 hours ago to 2 hours ago', '2026-03-18T06:20:30.400Z 2026-03-18T08:20:30.400Z'],
    ['yesterday to 2 hours ago', '2026-03-17T00:00:00.000Z 2026-03-18T08:20:30.400Z'],
    ['from yesterday to now', `2026-03-17T00:00:00.000Z ${to}`],
    ['2026-03-01 to 2026-03-02', '2026-03-01T00:00:00.000Z 2026-03-03T00:00:00.000Z'],
    ['2026-03-01 20:00 to 2026-03-01 21:00', '2026-03-01T20:00:00.000Z 2026-03-01T21:00:00.000Z'],
    ['2026-03-01 20:00', '2026-03-01T20:00:00.000Z 2026-03-01T20:01:00.000Z'],
    ['monday to friday', '2026-03-16T00:00:00.000Z 2026-03-21T00:00:00.000Z'],
    ['friday', '2026-03-13T00:00:00.000Z 2026-03-14T00:00:00.000Z'],
    ['friday to monday', '2026-03-13T00:00:00.000Z 2026-03-17T00:00:00.000Z'],
    ['1st of april to 2 days ago', '2025-04-01T00:00:00.000Z 2026-03-16T10:20:30.400Z'],
    ['yesterday 10:00 to yesterday 11:00', '2026-03-17T10:00:00.000Z 2026-03-17T11:00:00.000Z'],
    ['yesterday midnight to today midnight', '2026-03-17T00:00:00.000Z 2026-03-18T00:00:00.000Z'],
    ['friday to now', `2026-03-13T00:00:00.000Z ${to}`],
    ['today at 9am', `2026-03-18T09:00:00.000Z ${to}`],
    ['monday, or so', undefined],
    ['monday '.repeat(100), undefined],
    ['some day', undefined],
    ['', undefined],
    ['today to', undefined],
    ['a to b to c', undefined],
    ['now to 2026-01-01', undefined],
  ] as const)
    t.equal(shown(text), want, text);
  t.equal(shown('today', 'Asia/Kolkata'), `2026-03-17T18:30:00.000Z ${to}`, 'midnight of the zone');
  t.equal(
    shown('2026-03-01 20:00 to 2026-03-01 21:00', 'Asia/Tokyo'),
    '2026-03-01T11:00:00.000Z 2026-03-01T12:00:00.000Z',
    'written times are of the zone',
  );
  t.equal(shown('2026-03-01T20:00Z to 2026-03-01T21:00+02:00', 'Asia/Tokyo'), undefined, 'but where they say another');
  t.equal(
    shown('2026-03-01T20:00+02:00 to 2026-03-01T20:00Z', 'Asia/Tokyo'),
    '2026-03-01T18:00:00.000Z 2026-03-01T20:00:00.000Z',
  );
  t.equal(
    shown('2025-03-30', 'Europe/Berlin'),
    '2025-03-29T23:00:00.000Z 2025-03-30T22:00:00.000Z',
    'a day of 23 hours',
  );
  t.equal(shown('monday to friday', 'America/New_York'), '2026-03-16T04:00:00.000Z 2026-03-21T04:00:00.000Z');
  t.equal(
    shown('yesterday 10:00 to yesterday 11:00', 'America/New_York'),
    '2026-03-17T14:00:00.000Z 2026-03-17T15:00:00.000Z',
  );
  t.throws(
    () => resolveRange({ type: 'keyword', keyword: 'today', timezone: 'Mars/Phobos' }, now),
    /timerange\.timezone.*Mars\/Phobos/,
  );
  t.end();
});

t.test('time ranges of bodies', (t) => {
  t.same(resolveRange({ type: 'relative', range: 60 }, now), { from: now - 60_000, to: now });
  t.same(resolveRange({ type: 'relative', from: 120, to: 60 }, now), { from: now - 120_000, to: now - 60_000 });
  t.same(resolveRange({ type: 'relative', range: 0 }, now), { from: undefined, to: undefined });
  t.same(resolveRange(undefined, now), { from: now - 300_000, to: now });
  const first = -8.64e15;
  t.same(
    resolveRange({ type: 'relative', range: 1e300 }, now),
    { from: first, to: now },
    'further back than any calendar',
  );
  t.same(resolveRange({ type: 'relative', from: 1e300, to: 1e299 }, now), { from: first, to: first });
  t.same(resolveRange({ type: 'keyword', keyword: 'last 999999 years' }, now), { from: first, to: now });
  t.throws(() => resolveRange({ type: 'absolute', from: 'now-999999999y', to: 'now' }, now), /timerange\.from/);
  for (const range of [
    { type: 'relative' },
    { type: 'relative', range: 1, from: 2 },
    { type: 'relative', from: 1, to: 2 },
    { type: 'relative', from: 'x' },
    { type: 'absolute' },
    { type: 'absolute', from: '2026-01-02', to: '2026-01-01' },
    { type: 'keyword' },
  ] as const) {
    t.throws(() => resolveRange(range, now), /timerange\.\w+: The time range cannot be read/, JSON.stringify(range));
  }
  t.end();
});

t.test('widths of time buckets', (t) => {
  for (const [range, want] of [
    [60_000, 'second 1'],
    [300_000, 'second 10'],
    [3_600_000, 'minute 1'],
    [86_400_000, 'minute 30'],
    [7 * 86_400_000, 'hour 4'],
    [365 * 86_400_000, 'week 1'],
    [10 * 365 * 86_400_000, 'month 1'],
  ] as const) {
    const { unit, count } = automaticInterval(range);
    t.equal(`${unit} ${count}`, want);
  }
  t.same(automaticInterval(3_600_000, 2), { unit: 'minute', count: 2 }, 'coarser');
  for (const [text, want] of [
    ['1h', { unit: 'hour', count: 1 }],
    ['15m', { unit: 'minute', count: 15 }],
    ['1M', { unit: 'month', count: 1 }],
    ['500ms', { unit: 'millisecond', count: 500 }],
    ['hours', { unit: 'hour', count: 1 }],
    ['0s', undefined],
    ['1x', undefined],
    ['', undefined],
  ] as const)
    t.same(parseInterval(text), want, text);
  t.end();
});
