/** Search type `pivot`: groups by values and time, with series of counts and figures. */
import { ownMember } from '../../../core/own-member.js';
import type { Bucket, Grouping } from '../../../schemas/query.js';
import type { SearchTypeBody } from '../../../schemas/api-search.js';
import type { AggregateAnswer, AskedAggregate, SearchBucket, SearchMetric } from '../../../search/contract.js';
import { failure } from '../failure.js';
import { textOf } from '../objects/shapes.js';
import { figureKinds, figureOf } from './figures.js';
import { automaticInterval, parseInterval } from './times/intervals.js';
import { failuresOf } from './message-lists.js';
import { askedBy, type Asked, type AskedType, type Context } from './questions.js';

interface Series {
  readonly id: string;
  readonly metric: SearchMetric;
  /** Shown as a share of all documents. */
  readonly share: boolean;
}

interface Group {
  readonly type?: unknown;
  readonly field?: unknown;
  readonly fields?: unknown;
  readonly limit?: unknown;
  readonly interval?: {
    readonly type?: unknown;
    readonly scaling?: unknown;
    readonly timeunit?: unknown;
    readonly unit?: unknown;
    readonly value?: unknown;
  };
}

const defaultValues = 15;
const kinds = { ...figureKinds, percentage: 'count' as const };

export async function pivot(
  context: Context,
  { query, type, override }: AskedType,
): Promise<Readonly<Record<string, unknown>>> {
  if ((type.sort?.length ?? 0) > 1) throw wrong('sort', `${type.sort?.length ?? 0} of them`, 'one key');
  const asked = askedBy(context, query, type, override);
  const series = (type.series ?? []).map(seriesOf);
  const all = [...(type.row_groups ?? []), ...(type.column_groups ?? [])] as readonly Group[];
  const range = all.some((group) => group.type === 'time') ? await span(context, asked) : 0;
  const rows = ((type.row_groups ?? []) as readonly Group[]).flatMap((group) => groupings(group, range));
  const columns = ((type.column_groups ?? []) as readonly Group[]).flatMap((group) => groupings(group, range));
  const ask = (groups: readonly Grouping[], whole: boolean): Promise<AggregateAnswer> =>
    aggregate(context, { asked, series, type }, { groups, whole });
  const byRow = await ask(rows, rows.length > 0 && type.rollup === true);
  const byBoth = columns.length === 0 ? undefined : await ask([...rows, ...columns], false);
  const { whole } = byRow;
  const table = { byRow, byBoth, rows, columns, series };
  return {
    id: type.id,
    ...(type.name === undefined ? {} : { name: type.name }),
    type: 'pivot',
    total: byRow.total,
    effective_timerange: asked.effective,
    rows: [
      ...rowsOf(table, type.rollup === true || columns.length === 0),
      ...(whole === undefined ? [] : [{ key: [], values: cells(table, whole, [], 'row-inner'), source: 'non-leaf' }]),
    ],
    ...failuresOf([...(byRow.failures ?? []), ...(byBoth?.failures ?? [])]),
  };
}

function aggregate(
  { services: { searcher }, identity, signal, deadlineMs }: Context,
  { asked: { question }, series, type }: { asked: Asked; series: readonly Series[]; type: SearchTypeBody },
  { groups, whole }: Pick<AskedAggregate, 'groups' | 'whole'>,
): Promise<AggregateAnswer> {
  const [sort] = (type.sort ?? []) as readonly {
    readonly type?: unknown;
    readonly field?: unknown;
    readonly direction?: unknown;
  }[];
  const at = series.findIndex(({ id }) => id === sort?.field);
  const direction =
    typeof sort?.direction === 'string' && /^asc/i.test(sort.direction) ? ('asc' as const) : ('desc' as const);
  const order =
    sort === undefined || groups.every(({ kind }) => kind === 'time')
      ? undefined
      : sort.type === 'pivot'
        ? { by: 'key' as const, direction }
        : at >= 0
          ? { by: at, direction }
          : undefined;
  return searcher.aggregate(
    { ...question, aggregate: { groups, metrics: series.map(({ metric }) => metric), sort: order, whole } },
    { scope: identity.scope, signal, fairnessKey: identity.username, deadlineMs },
  );
}

function seriesOf(body: Readonly<Record<string, unknown>>): Series {
  const { type, id, field, percentile } = body as {
    type?: unknown;
    id?: unknown;
    field?: unknown;
    percentile?: unknown;
  };
  const kind = typeof type === 'string' ? ownMember(kinds, type) : undefined;
  if (typeof type !== 'string' || kind === undefined) throw wrong('series', type, Object.keys(kinds).join(', '));
  const named = typeof field === 'string' && field !== '' ? field : undefined;
  return {
    id: typeof id === 'string' && id !== '' ? id : `${type}(${named ?? ''})`,
    share: type === 'percentage',
    metric: figureOf(kind, named, percentile),
  };
}

function groupings(group: Group, rangeMs: number): readonly Grouping[] {
  const fields = Array.isArray(group.fields)
    ? (group.fields as unknown[]).map((field) => textOf(field))
    : typeof group.field === 'string'
      ? [group.field]
      : [];
  if (fields.length === 0) throw wrong('group', group.fields, 'the names of fields');
  if (group.type === 'values')
    return fields.map((field) => ({
      kind: 'values',
      field,
      limit: typeof group.limit === 'number' ? group.limit : defaultValues,
    }));
  if (group.type !== 'time') throw wrong('group', group.type, 'values, time');
  const { type, scaling, timeunit, unit, value } = group.interval ?? {};
  const interval =
    type === undefined || type === 'auto'
      ? automaticInterval(rangeMs, typeof scaling === 'number' ? scaling : 1)
      : parseInterval(textOf(timeunit ?? unit), typeof value === 'number' ? value : undefined);
  if (interval === undefined)
    throw wrong(
      'interval',
      timeunit ?? unit,
      '{type: auto}, or {type: timeunit, timeunit: 30s | 5m | 1h | 1d | 1w | 1M}',
    );
  return fields.map((field) => ({ kind: 'time', field, interval }));
}

/** Milliseconds that are divided into buckets. Without a time range these are the times of what is found. */
async function span(context: Context, { question }: Asked): Promise<number> {
  if (question.from !== undefined) return (question.to ?? context.now) - question.from;
  const {
    services: { searcher },
    identity,
    signal,
    deadlineMs,
  } = context;
  const found = await searcher.aggregate(
    {
      ...question,
      aggregate: {
        groups: [],
        metrics: [
          { kind: 'min', field: 'timestamp' },
          { kind: 'max', field: 'timestamp' },
        ],
      },
    },
    { scope: identity.scope, signal, fairnessKey: identity.username, deadlineMs },
  );
  const [first = null, last = null] = found.buckets[0]?.values ?? [];
  return typeof first === 'number' && typeof last === 'number' ? last - first : 0;
}

/** What the store found: by rows, and by rows and columns where there are columns. */
interface Table {
  readonly byRow: AggregateAnswer;
  readonly byBoth: AggregateAnswer | undefined;
  readonly rows: readonly Grouping[];
  readonly columns: readonly Grouping[];
  readonly series: readonly Series[];
}

function rowsOf(table: Table, rollup: boolean): readonly Readonly<Record<string, unknown>>[] {
  const { byRow, byBoth, rows, columns } = table;
  const inner = grouped(byBoth?.buckets ?? [], (bucket) => JSON.stringify(bucket.key.slice(0, rows.length)));
  return byRow.buckets.map((bucket) => ({
    key: keyOf(bucket.key, rows),
    source: 'leaf',
    values: [
      ...(inner.get(JSON.stringify(bucket.key)) ?? []).flatMap((one) =>
        cells(table, one, keyOf(one.key.slice(rows.length), columns), 'col-leaf'),
      ),
      ...(rollup ? cells(table, bucket, [], 'row-leaf') : []),
    ],
  }));
}

function cells(
  { byRow: { total }, series }: Table,
  bucket: SearchBucket,
  columns: readonly unknown[],
  source: 'col-leaf' | 'row-leaf' | 'row-inner',
): readonly Readonly<Record<string, unknown>>[] {
  return series.map(({ id, share }, at) => {
    const value = bucket.values[at] ?? null;
    return {
      key: [...columns, id],
      value: share && typeof value === 'number' ? (total === 0 ? 0 : value / total) : value,
      rollup: source !== 'col-leaf',
      source,
    };
  });
}

function keyOf(key: Bucket['key'], groups: readonly Grouping[]): readonly unknown[] {
  return key.map((part, at) => (groups[at]?.kind === 'time' ? new Date(Number(part)).toISOString() : part));
}

/** As `Map.groupBy`, which Node.js 20 does not have. */
function grouped<Item>(items: readonly Item[], keyOfItem: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOfItem(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

function wrong(what: string, got: unknown, allowed: string): Error {
  return failure(
    'API_VALUE_INVALID',
    `${what}: This ${what} is not known. Got ${String(JSON.stringify(got)).slice(0, 100)}. Allowed: ${allowed}.`,
    { body: { path: what } },
  );
}
