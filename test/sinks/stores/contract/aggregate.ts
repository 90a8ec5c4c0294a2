/** Aggregations: every adapter gives what plain code over the documents gives. */
import { deepStrictEqual } from 'node:assert';
import fc from 'fast-check';
import type { Test } from 'tap';
import { aggregateDocuments } from '../../../../search/reference/aggregate.js';
import type { AggregateAnswer, MetricValue, SearchBucket } from '../../../../search/contract.js';
import type { AggregateRequest, AggregateResult } from '../../../../schemas/query.js';
import type { IndexStore } from '../../../../sinks/stores/contract.js';
import { createFilled, type StoredDocument } from './contract.js';

/** Numbers as large as the sums of a test come out of engines with other last digits. */
const digits = 9;
/** What lies half between two roundings goes the same way for all. */
const offHalf = 1 + 1e-12;

export async function aggregations(test: Test, store: IndexStore): Promise<void> {
  const documents = Array.from({ length: 400 }, (_, at) => aggregateDocument(at));
  const halves = [documents.slice(0, 150), documents.slice(150)];
  const indices = await Promise.all(halves.map((half) => createFilled(store, half)));
  for (const [title, asked] of cases) {
    await test.test(title, async (t) => {
      const request: AggregateRequest = { indices, query: { kind: 'all' }, groups: [], metrics: [], ...asked };
      t.same(
        rounded(await store.queries.aggregate(request)),
        rounded({ ...aggregateDocuments(documents, request), skipped: [] }),
      );
    });
  }
  await test.test('random aggregations', async (t) => {
    await fc.assert(
      fc.asyncProperty(anyAggregate, async (asked) => {
        const request: AggregateRequest = { indices, query: { kind: 'all' }, whole: true, ...asked };
        deepStrictEqual(
          rounded(await store.queries.aggregate(request)),
          rounded({ ...aggregateDocuments(documents, request), skipped: [] }),
        );
      }),
      { seed: 99, numRuns: 110 },
    );
    t.pass('all equal');
  });
  await test.test('nothing but counts by time, in ranges that begin and end anywhere, again and again', async (t) => {
    await fc.assert(
      fc.asyncProperty(anyChart, async ({ from, length, count, grouped }) => {
        const begin = Date.UTC(2026, 1, 27, 22) + from;
        const request: AggregateRequest = {
          indices,
          query: { kind: 'all' },
          from: begin,
          to: begin + length,
          groups: grouped ? [time('minute', count)] : [],
          metrics: [{ kind: 'count' }],
        };
        deepStrictEqual(
          rounded(await store.queries.aggregate(request)),
          rounded({ ...aggregateDocuments(documents, request), skipped: [] }),
        );
      }),
      { seed: 7, numRuns: 40 },
    );
    t.pass('all equal');
  });
  await test.test('a missing index is named', async (t) => {
    const result = await store.queries.aggregate({
      indices: [...indices, 'nowhere_0'],
      query: { kind: 'all' },
      groups: [],
      metrics: [{ kind: 'count' }],
    });
    t.same(result.skipped, ['nowhere_0']);
    t.equal(result.total, documents.length);
  });
  await test.test('figures over indices that hold a field in different types', async (t) => {
    const mixed = halves.map((half, at) =>
      half.map((one, place) => ({ ...one, odd: at === 0 ? place % 9 : `odd-${place % 11}` })),
    );
    const typed = await Promise.all(mixed.map((half) => createFilled(store, half)));
    const figures = (['cardinality', 'average', 'sum', 'sum_of_squares', 'variance', 'deviation'] as const).map(
      (kind) => ({ kind, field: kind === 'cardinality' ? 'odd' : 'took' }),
    );
    const request: AggregateRequest = {
      indices: typed,
      query: { kind: 'all' },
      groups: [values('level')],
      metrics: figures,
    };
    t.same(
      rounded(await store.queries.aggregate(request)),
      rounded({ ...aggregateDocuments(mixed.flat(), request), skipped: [] }),
    );
  });
  await test.test('what cannot be squared has no variance', async (t) => {
    const large = [1e200, -1e200].map((took, at) => ({ ...aggregateDocument(at), took }));
    const asked = {
      query: { kind: 'all' as const },
      groups: [],
      metrics: [
        { kind: 'variance', field: 'took' },
        { kind: 'deviation', field: 'took' },
        { kind: 'sum', field: 'took' },
      ] as const,
    };
    const { buckets } = await store.queries.aggregate({ indices: [await createFilled(store, large)], ...asked });
    t.same(buckets[0]?.values, [null, null, 0]);
  });
  await test.test('of no index there is nothing', async (t) => {
    t.same(
      await store.queries.aggregate({
        indices: [],
        query: { kind: 'all' },
        groups: [{ kind: 'values', field: 'level' }],
        metrics: [],
      }),
      { total: 0, buckets: [], otherDocuments: 0, skipped: [] },
    );
  });
}

/** Two indices; the first lacks some fields that the second has. */
function aggregateDocument(at: number): StoredDocument {
  const time = new Date(Date.UTC(2026, 1, 27, 22) + at * 613_000).toISOString();
  return {
    timestamp: time,
    receive_time: time,
    source: at % 2 === 0 ? `Host-${at % 3}` : `host-${at % 3}`,
    message: `Message ${at}`,
    level: (at * 7) % 8,
    streams: at % 5 === 0 ? ['s1', 's2'] : at % 5 === 1 ? [] : ['s1'],
    'app.name': `app-${(at * at) % 17}`,
    took: ((at * 37) % 101) / 4,
    ...(at % 3 === 0 ? { ok: at % 2 === 0 } : {}),
    ...(at > 200 && at % 4 === 0 ? { late: at, word: `w${at % 7}` } : {}),
  };
}

const values = (field: string, limit?: number) => ({ kind: 'values' as const, field, limit });
const time = (unit: 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year', count = 1) => ({
  kind: 'time' as const,
  field: 'timestamp',
  interval: { unit, count },
});
const everyMetric = [
  { kind: 'count' },
  { kind: 'count', field: 'ok' },
  { kind: 'cardinality', field: 'app.name' },
  { kind: 'cardinality', field: 'took' },
  { kind: 'min', field: 'took' },
  { kind: 'max', field: 'took' },
  { kind: 'sum', field: 'took' },
  { kind: 'average', field: 'took' },
  { kind: 'percentile', field: 'took', percentile: 50 },
  { kind: 'percentile', field: 'took', percentile: 95 },
  { kind: 'percentile', field: 'took', percentile: 0 },
  { kind: 'percentile', field: 'took', percentile: 100 },
  { kind: 'max', field: 'timestamp' },
  { kind: 'sum', field: 'late' },
  { kind: 'average', field: 'word' },
  { kind: 'cardinality', field: 'nowhere' },
  { kind: 'cardinality', field: 'streams' },
  { kind: 'percentile', field: 'late', percentile: 25 },
  { kind: 'variance', field: 'took' },
  { kind: 'deviation', field: 'took' },
  { kind: 'sum_of_squares', field: 'took' },
  { kind: 'variance', field: 'late' },
  { kind: 'deviation', field: 'word' },
  { kind: 'sum_of_squares', field: 'nowhere' },
] as const;

const cases: readonly (readonly [string, Partial<AggregateRequest>])[] = [
  ['one bucket of all, every metric', { metrics: everyMetric }],
  ['one bucket of nothing', { query: { kind: 'none' }, metrics: everyMetric }],
  ['values of text', { groups: [values('app.name')], metrics: [{ kind: 'count' }] }],
  ['values, fewer than there are', { groups: [values('app.name', 3)], metrics: everyMetric }],
  ['values of numbers, by key', { groups: [values('level', 5)], metrics: [], sort: { by: 'key', direction: 'desc' } }],
  ['values of booleans', { groups: [values('ok')], metrics: [{ kind: 'sum', field: 'took' }] }],
  ['values of source in any case', { groups: [values('source')], metrics: [] }],
  [
    'values of a list, each member for itself',
    { groups: [values('streams')], metrics: [{ kind: 'average', field: 'took' }] },
  ],
  ['only some values of a list', { groups: [{ kind: 'values', field: 'streams', only: ['s2', 's9'] }], metrics: [] }],
  [
    'values by a metric',
    {
      groups: [values('app.name', 4)],
      metrics: [{ kind: 'count' }, { kind: 'max', field: 'took' }, { kind: 'average', field: 'took' }],
      sort: { by: 2, direction: 'desc' },
    },
  ],
  [
    'values by a percentile, ascending',
    {
      groups: [values('app.name', 4)],
      metrics: [{ kind: 'percentile', field: 'took', percentile: 90 }],
      sort: { by: 0, direction: 'asc' },
    },
  ],
  [
    'values by a deviation',
    {
      groups: [values('app.name', 4)],
      metrics: [
        { kind: 'sum_of_squares', field: 'took' },
        { kind: 'deviation', field: 'took' },
      ],
      sort: { by: 1, direction: 'desc' },
    },
  ],
  ['a field that one index lacks', { groups: [values('word')], metrics: [{ kind: 'min', field: 'late' }] }],
  ['a field that no index has', { groups: [values('nowhere')], metrics: [{ kind: 'count' }] }],
  [
    'minutes',
    {
      groups: [time('minute', 10)],
      metrics: [{ kind: 'count' }, { kind: 'percentile', field: 'took', percentile: 50 }],
    },
  ],
  ['days, weeks, months, quarters and years', { groups: [time('day')], metrics: [] }],
  ['weeks', { groups: [time('week')], metrics: [] }],
  ['two weeks', { groups: [time('week', 2)], metrics: [] }],
  ['months', { groups: [time('month')], metrics: [] }],
  ['quarters', { groups: [time('month', 3)], metrics: [] }],
  ['years', { groups: [time('year')], metrics: [] }],
  ['five days', { groups: [time('day', 5)], metrics: [] }],
  ['values over time', { groups: [time('day'), values('level', 2)], metrics: [{ kind: 'average', field: 'took' }] }],
  [
    'time over values over values',
    {
      groups: [values('source', 2), time('day'), values('app.name', 2)],
      metrics: [{ kind: 'cardinality', field: 'level' }],
    },
  ],
  [
    'values over values by the inner metric',
    {
      groups: [values('source', 2), values('app.name', 3)],
      metrics: [{ kind: 'sum', field: 'took' }],
      sort: { by: 0, direction: 'desc' },
    },
  ],
  ['members of a list over values', { groups: [values('level', 3), values('streams')], metrics: [{ kind: 'count' }] }],
  [
    'a query and a range of time',
    {
      query: { kind: 'term', field: 'ok', text: 'true' },
      from: Date.UTC(2026, 1, 28),
      to: Date.UTC(2026, 2, 1),
      groups: [time('hour', 6)],
      metrics: [{ kind: 'count', field: 'word' }],
    },
  ],
];

const anyGroup = fc.oneof(
  fc.record({
    kind: fc.constant('values' as const),
    field: fc.constantFrom('app.name', 'level', 'ok', 'source', 'streams', 'word', 'took', 'nowhere'),
    limit: fc.integer({ min: 1, max: 30 }),
  }),
  fc.record({
    kind: fc.constant('time' as const),
    field: fc.constantFrom('timestamp', 'receive_time'),
    interval: fc.constantFrom(
      { unit: 'minute' as const, count: 90 },
      { unit: 'hour' as const, count: 5 },
      { unit: 'day' as const, count: 1 },
      { unit: 'week' as const, count: 1 },
    ),
  }),
);
/** Only fields that every document has: each engine sorts buckets without a value in its own way. */
const anyMetric = fc.record({
  kind: fc.constantFrom(
    'count' as const,
    'cardinality' as const,
    'min' as const,
    'max' as const,
    'sum' as const,
    'average' as const,
    'percentile' as const,
    'variance' as const,
    'deviation' as const,
    'sum_of_squares' as const,
  ),
  field: fc.constantFrom('took', 'level'),
  percentile: fc.constantFrom(1, 25, 50, 75, 90, 99.9),
});
/** Equal variances come out of engines with other last digits, and then in another order. */
const anyAggregate = fc
  .record({
    groups: fc.array(anyGroup, { maxLength: 3 }),
    metrics: fc.array(anyMetric, { minLength: 1, maxLength: 3 }),
    sort: fc.constantFrom(
      undefined,
      { by: 'key' as const, direction: 'asc' as const },
      { by: 'key' as const, direction: 'desc' as const },
      { by: 0, direction: 'desc' as const },
      { by: 0, direction: 'asc' as const },
    ),
  })
  .filter(
    ({ sort, metrics }) => sort?.by !== 0 || (metrics[0]?.kind !== 'variance' && metrics[0]?.kind !== 'deviation'),
  );

const anyChart = fc.record({
  from: fc.integer({ min: -1_000_000, max: 100_000_000 }),
  length: fc.integer({ min: 0, max: 200_000_000 }),
  count: fc.constantFrom(1, 7, 30),
  grouped: fc.boolean(),
});

function rounded(
  result: Omit<AggregateResult, 'buckets' | 'whole'> & Pick<AggregateAnswer, 'buckets' | 'whole'>,
): unknown {
  const round = (value: MetricValue): MetricValue =>
    typeof value === 'number' ? Number((value * offHalf).toPrecision(digits)) : value;
  const bucket = ({ key, documents, values: all }: SearchBucket): SearchBucket => ({
    key,
    documents,
    values: all.map(round),
  });
  return {
    ...result,
    buckets: result.buckets.map(bucket),
    ...(result.whole === undefined ? {} : { whole: bucket(result.whole) }),
  };
}
