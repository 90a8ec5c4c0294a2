import t from 'tap';
import { parseDuration } from '../../../core/time/durations.js';
import { parseTimeRange, type TimeRangeOptions } from '../../../search/language/time-range.js';

const now = Date.parse('2026-03-10T12:34:56.789Z');
const minute = 60_000;

t.test('durations are read in every unit, joined and with fractions', async (t) => {
  const cases: readonly (readonly [string, number | undefined])[] = [
    ['30s', 30_000],
    ['15m', 15 * minute],
    ['2h', 120 * minute],
    ['7d', 7 * 24 * 60 * minute],
    ['4w', 28 * 24 * 60 * minute],
    ['1h30m', 90 * minute],
    ['1.5h', 90 * minute],
    [' 5 m ', 5 * minute],
    ['250ms', 250],
    ['', undefined],
    ['15', undefined],
    ['m', undefined],
    ['15x', undefined],
    ['-5m', undefined],
    ['5m!', undefined],
  ];
  for (const [text, want] of cases) t.equal(parseDuration(text), want, text);
});

t.test('a time range is half-open and reads every form', async (t) => {
  const cases: readonly (readonly [TimeRangeOptions, number | undefined, number | undefined])[] = [
    [{ last: '15m' }, now - 15 * minute, now + 1],
    [{ last: 'all' }, undefined, undefined],
    [{}, undefined, undefined],
    [{ from: 'now-1h', to: 'now' }, now - 60 * minute, now],
    [{ from: '2026-01-02', to: '2026-01-03' }, Date.parse('2026-01-02'), Date.parse('2026-01-03')],
    [{ from: '2026-01-02T03:04:05+01:00' }, Date.parse('2026-01-02T02:04:05Z'), undefined],
    [{ from: 1767323045678 }, 1767323045678, undefined],
    [{ from: '1767323045' }, 1767323045000, undefined],
    [{ to: 'now/d' }, undefined, Date.parse('2026-03-10')],
  ];
  for (const [options, from, to] of cases) t.same(parseTimeRange(options, now), { from, to }, JSON.stringify(options));
});

t.test('what is no time range is a typed error that says what came', async (t) => {
  const cases: readonly TimeRangeOptions[] = [
    { last: 'soon' },
    { last: '15m', from: 'now' },
    { from: '2026-02-30' },
    { to: 'tomorrow' },
    { from: 'now', to: 'now-1h' },
    { from: '2026-01-02', to: '2026-01-02' },
    { from: 'now-999999999y' },
  ];
  for (const options of cases)
    t.throws(() => parseTimeRange(options, now), { code: 'SEARCH_TIME_RANGE' }, JSON.stringify(options));
});
