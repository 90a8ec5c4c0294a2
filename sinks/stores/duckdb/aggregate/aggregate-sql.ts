/**
 * One statement for an aggregation over several index files: their documents side by side, grouped at every level at
 * once (`GROUPING SETS`), then cut level by level to the buckets that count.
 */
import { at } from '../../../../core/at.js';
import {
  defaultBucketLimit,
  maxBuckets,
  type AggregateRequest,
  type Grouping,
  type Metric,
} from '../../../../schemas/query.js';
import { bucketSql, defaultInterval } from '../sql/bucket-sql.js';
import { keyColumns, type KeyColumns } from './aggregate-columns.js';
import type { IndexFile } from '../files/index-file.js';
import type { RowsLease } from '../retained/retained-rows.js';
import { querySql } from '../sql/query-sql.js';
import { conditionSql, timesSql } from '../sql/condition-sql.js';
import { timesOnly } from './time-buckets.js';
import { numberSql, SqlParameters } from '../sql/value-sql.js';

export type EngineAggregate = Omit<AggregateRequest, 'signal'>;
type Kind = 'number' | 'text' | 'boolean';
const kinds: readonly Kind[] = ['number', 'text', 'boolean'];
const sqlTypes: Readonly<Record<Kind, string>> = { number: 'DOUBLE', text: 'VARCHAR', boolean: 'BOOLEAN' };

interface Slot {
  /** Columns of this field: `<name>_number`, ... */
  readonly name: string;
  readonly field: string;
  readonly byIndex: readonly KeyColumns[];
  readonly used: readonly Kind[];
  readonly isList: boolean;
}

export interface AggregateSql {
  readonly sql: string;
  readonly values: string[];
  /** Kinds of the columns `g<n>_<kind>` of each grouping. */
  readonly groupKinds: readonly (readonly Kind[])[];
}

/** `held`: the rows that match, file by file, where they are known already. */
export function aggregateSql(
  files: readonly IndexFile[],
  request: EngineAggregate,
  leased?: readonly RowsLease[],
): AggregateSql {
  const parameters = new SqlParameters();
  const slotOf = (name: string, field: string): Slot => {
    const byIndex = files.map((file) => keyColumns(file.fields, field, parameters));
    const isList = byIndex.some((columns) => columns.list !== undefined);
    const used = isList
      ? ['text' as const]
      : kinds.filter((kind) => byIndex.some((columns) => columns[kind] !== undefined));
    return { name, field, byIndex, used, isList };
  };
  const groups = request.groups.map((group, at) => slotOf(`g${at}`, group.field));
  const fields = new Map(
    request.metrics
      .flatMap((metric) => (metric.field === undefined || metric.kind === 'count' ? [] : [metric.field]))
      .map((field, at) => [field, slotOf(`f${at}`, field)]),
  );
  const base = files.map((file, index) => {
    const known = leased?.[index];
    if (known !== undefined && timesOnly(request)) return leasedTimesSql(known, request);
    const columns = [
      ...groups.flatMap((slot, level) => groupColumns(slot, index, at(request.groups, level))),
      ...[...fields.values()].flatMap((slot) => slotColumns(slot, index)),
      ...existsColumns(file, request, parameters),
    ];
    return `SELECT ${[...columns, '1 AS present'].join(', ')} FROM ${file.alias}.documents WHERE ${whereSql(file, request, known, parameters)}`;
  });
  const metrics = request.metrics.map(
    (metric, at) => `${metricSql(metric, at, fields.get(metric.field ?? ''))} AS m${at}`,
  );
  const { sql, values } = parameters.statement(statement({ base, groups, metrics }, request, parameters));
  return { sql, values, groupKinds: groups.map((slot) => slot.used) };
}

/** Nothing but the times of these rows is asked for. */
function leasedTimesSql({ source }: RowsLease, request: EngineAggregate): string {
  const columns = request.groups.map(
    (group, at) => `${bucketSql('time', group.interval ?? defaultInterval)} AS g${at}_number`,
  );
  return `SELECT ${[...columns, '1 AS present'].join(', ')} FROM ${source} WHERE ${timesSql('time', request).join(' AND ') || 'true'}`;
}

function whereSql(
  file: IndexFile,
  request: EngineAggregate,
  leased: RowsLease | undefined,
  parameters: SqlParameters,
): string {
  if (leased === undefined) return conditionSql(file.fields, request, parameters);
  return `rowid IN (SELECT place FROM ${leased.source} WHERE ${timesSql('time', request).join(' AND ') || 'true'})`;
}

function slotColumns(slot: Slot, at: number): string[] {
  if (slot.isList) return [`${slot.byIndex[at]?.list ?? '[]'}::VARCHAR[] AS ${slot.name}_list`];
  return slot.used.map((kind) => `${slot.byIndex[at]?.[kind] ?? `NULL::${sqlTypes[kind]}`} AS ${slot.name}_${kind}`);
}

function groupColumns(slot: Slot, at: number, group: Grouping): string[] {
  if (group.kind === 'values') return slotColumns(slot, at);
  const column = slot.byIndex[at]?.number;
  return [
    `${column === undefined ? 'NULL::DOUBLE' : bucketSql(column, group.interval ?? defaultInterval)} AS ${slot.name}_number`,
  ];
}

/** Counted by the same condition that a search for the field's existence has. */
function existsColumns(file: IndexFile, request: EngineAggregate, parameters: SqlParameters): string[] {
  return request.metrics.flatMap((metric, at) =>
    metric.kind === 'count' && metric.field !== undefined
      ? [
          `coalesce(${querySql({ kind: 'exists', field: metric.field }, { fields: file.fields, parameters })}, false) AS e${at}`,
        ]
      : [],
  );
}

function metricSql(metric: Metric, at: number, slot: Slot | undefined): string {
  if (metric.kind === 'count')
    return metric.field === undefined ? 'count(*)::DOUBLE' : `count(*) FILTER (WHERE e${at})::DOUBLE`;
  if (slot === undefined || slot.used.length === 0) return metric.kind === 'cardinality' ? '0::DOUBLE' : 'NULL::DOUBLE';
  if (metric.kind === 'cardinality') return cardinalitySql(slot);
  const number = slot.used.includes('number') ? `${slot.name}_number` : 'NULL::DOUBLE';
  switch (metric.kind) {
    case 'min':
    case 'max':
      return `${metric.kind}(${number})`;
    case 'sum':
      return `CASE WHEN count(${number}) > 0 THEN fsum(${number}) END`;
    case 'average':
      return `favg(${number})`;
    case 'sum_of_squares':
      return `CASE WHEN count(${number}) > 0 THEN fsum(${number} * ${number}) END`;
    case 'variance':
      return finiteOnly('var_pop', number);
    case 'deviation':
      return finiteOnly('stddev_pop', number);
    case 'percentile':
      return `quantile_disc(${number}, ${numberSql((metric.percentile ?? 50) / 100)})`;
  }
}

/** The engine fails the whole statement where a variance is beyond the largest number. */
const largestSquared = 1e150;

function finiteOnly(name: string, number: string): string {
  return `CASE WHEN count(*) FILTER (WHERE abs(${number}) >= ${largestSquared}) = 0 THEN ${name}(${number}) FILTER (WHERE abs(${number}) < ${largestSquared}) END`;
}

function cardinalitySql({ name, used, isList }: Slot): string {
  if (isList) return `coalesce(len(list_distinct(flatten(list(${name}_list)))), 0)::DOUBLE`;
  if (used.length === 1) return `count(DISTINCT ${name}_${used[0]})::DOUBLE`;
  return `count(DISTINCT coalesce(${used.map((kind) => `'${kind} ' || ${name}_${kind}`).join(', ')}))::DOUBLE`;
}

interface StatementParts {
  /** One SELECT for each file. */
  readonly base: readonly string[];
  readonly groups: readonly Slot[];
  readonly metrics: readonly string[];
}

function statement(
  { base, groups, metrics }: StatementParts,
  request: EngineAggregate,
  parameters: SqlParameters,
): string {
  const keys = groups.map((slot) => slot.used.map((kind) => `${slot.name}_${kind}`));
  const lists = groups.filter((slot) => slot.isList);
  const parts = [`base AS ${lists.length > 0 ? 'MATERIALIZED ' : ''}(${base.join(' UNION ALL ')})`];
  let source = 'base';
  for (const slot of lists) {
    parts.push(`${slot.name}_members AS (SELECT *, unnest(${slot.name}_list) AS ${slot.name}_text FROM ${source})`);
    source = `${slot.name}_members`;
  }
  const sets = [[], ...keys.map((_, level) => keys.slice(0, level + 1).flat())];
  const all = [...new Set(keys.flat())];
  const level = sets.map((set, at) => `WHEN ${groupingId(all, set)} THEN ${at}`).join(' ');
  const perLevel = (set: readonly string[], at: number): string => {
    const last = groups.slice(0, at).findLast((slot) => slot.isList);
    const columns = all.map((name) =>
      set.includes(name) ? name : `NULL::${sqlTypes[name.slice(name.indexOf('_') + 1) as Kind]} AS ${name}`,
    );
    return `SELECT ${[`${at} AS level`, ...columns, 'count(*)::DOUBLE AS documents', ...metrics].join(', ')} FROM ${last === undefined ? 'base' : `${last.name}_members`}${set.length === 0 ? '' : ` GROUP BY ${set.join(', ')}`}`;
  };
  const grouped =
    all.length === 0
      ? ''
      : ` GROUP BY GROUPING SETS (${uniqueSets(sets)
          .map((set) => `(${set.join(', ')})`)
          .join(', ')})`;
  const names = [...all, 'count(*)::DOUBLE AS documents', ...metrics];
  // Outer buckets count documents, not the members of an inner list.
  if (lists.length > 0) parts.push(`grouped AS MATERIALIZED (${sets.map(perLevel).join(' UNION ALL ')})`);
  else
    parts.push(
      `grouped AS MATERIALIZED (SELECT ${all.length === 0 ? '0' : `CASE grouping(${all.join(', ')}) ${level} END`} AS level, ${names.join(', ')} FROM ${source}${grouped})`,
    );
  request.groups.forEach((group, at) => parts.push(levelSql({ group, at, keys }, request, parameters)));
  const outcome = request.groups.map((_, at) => `SELECT * FROM kept${at}`);
  const whole =
    lists.length > 0
      ? '(SELECT count(*) FROM base)::DOUBLE'
      : '(SELECT coalesce(max(documents), 0) FROM grouped WHERE level = 0)';
  const columns = ['level', ...all, 'documents', ...metrics.map((_, at) => `m${at}`)].join(', ');
  return `WITH ${parts.join(', ')} SELECT ${whole} AS total, * FROM (SELECT ${columns}, 0::DOUBLE AS cut FROM grouped WHERE level = 0${outcome.map((one) => ` UNION ALL ${one}`).join('')}) LIMIT ${maxBuckets + 2}`;
}

/** Levels without a column of their own (no document has the field) would be the level above once more. */
function uniqueSets(sets: readonly (readonly string[])[]): (readonly string[])[] {
  return sets.filter((set, at) => at === 0 || set.length > (sets[at - 1]?.length ?? 0));
}

function groupingId(all: readonly string[], set: readonly string[]): number {
  return all.reduce((id, name) => id * 2 + (set.includes(name) ? 0 : 1), 0);
}

interface Level {
  readonly group: Grouping;
  readonly at: number;
  /** Names of the columns of each level. */
  readonly keys: readonly (readonly string[])[];
}

/** The buckets of one level within those that the level above has left; `cut`: documents of those left out. */
function levelSql({ group, at: index, keys }: Level, request: EngineAggregate, parameters: SqlParameters): string {
  const own = at(keys, index);
  const outer = keys.slice(0, index).flat();
  if (own.length === 0)
    return `kept${index} AS (SELECT level, ${selected(request, keys)}, 0::DOUBLE AS cut FROM grouped WHERE false)`;
  const within =
    index === 0
      ? ''
      : ` SEMI JOIN kept${index - 1} AS outer_buckets ON ${['true', ...outer.map((name) => `buckets.${name} IS NOT DISTINCT FROM outer_buckets.${name}`)].join(' AND ')}`;
  const present = `(${own.map((name) => `buckets.${name} IS NOT NULL`).join(' OR ')})`;
  const only =
    group.only === undefined
      ? ''
      : ` AND buckets.g${index}_text IN (${['NULL', ...group.only.map((key) => parameters.text(key))].join(', ')})`;
  const partition = outer.length === 0 ? '' : `PARTITION BY ${outer.join(', ')} `;
  const candidates = `SELECT buckets.* FROM grouped AS buckets${within} WHERE buckets.level = ${index + 1} AND ${present}${only}`;
  if (group.kind === 'time')
    return `kept${index} AS (SELECT level, ${selected(request, keys)}, 0::DOUBLE AS cut FROM (${candidates}) AS buckets)`;
  const place = `row_number() OVER (${partition}ORDER BY ${orderSql(request, own)}) AS place`;
  return (
    `ranked${index} AS (SELECT *, ${place} FROM (${candidates})), kept${index} AS (SELECT level, ${selected(request, keys)},` +
    ` (SELECT coalesce(sum(documents), 0) FROM ranked${index} WHERE place > ${limitOf(group)}) AS cut FROM ranked${index} WHERE place <= ${limitOf(group)})`
  );
}

function limitOf(group: Grouping): number {
  return Math.floor(group.limit ?? defaultBucketLimit);
}

function selected(request: EngineAggregate, keys: readonly (readonly string[])[]): string {
  return [...new Set(keys.flat()), 'documents', ...request.metrics.map((_, at) => `m${at}`)].join(', ');
}

function orderSql(request: EngineAggregate, own: readonly string[]): string {
  const { by, direction } = request.sort ?? { by: undefined, direction: 'desc' as const };
  const keyOrder = own.map((name) => `${name} ${by === 'key' ? direction : 'asc'} NULLS LAST`);
  if (by === 'key') return keyOrder.join(', ');
  return [`${by === undefined ? 'documents' : `m${by}`} ${direction} NULLS LAST`, ...keyOrder].join(', ');
}
