/** What an aggregation may ask for, said before a store is asked. */
import type { SearchScope } from '../../schemas/access.js';
import { standardFields, timeFields } from '../../schemas/index-fields.js';
import { maxBuckets, type Grouping } from '../../schemas/query.js';
import { isLatest, type AskedAggregate, type SearchMetric } from '../contract.js';
import { searchErrors } from '../errors.js';
import { readableStreams } from './scope.js';

/** Each level multiplies the work. */
const maxGroups = 5;
const maxMetrics = 200;

/**
 * Returns the aggregation; buckets of `streams` are limited to streams that may be read. Throws
 * SEARCH_AGGREGATE_INVALID.
 */
export function checkAggregate(asked: AskedAggregate, scope: SearchScope): AskedAggregate {
  if (asked.groups.length > maxGroups) refuse('groups', `${asked.groups.length} groupings`, `${maxGroups}`);
  if (asked.metrics.length > maxMetrics) refuse('metrics', `${asked.metrics.length} metrics`, `${maxMetrics}`);
  const { sort } = asked;
  if (typeof sort?.by === 'number' && asked.metrics[sort.by] === undefined)
    refuse('sort', `metric ${sort.by}`, `the place of a metric, or key`);
  if (typeof sort?.by === 'number' && asked.metrics[sort.by]?.kind === 'latest')
    refuse('sort', `metric ${sort.by}, a latest value`, 'the place of a figure, or key');
  asked.metrics.forEach((metric, at) => checkMetric(metric, `metric ${at}`, scope));
  return { ...asked, groups: asked.groups.map((group, at) => checkGroup(group, `grouping ${at}`, scope)) };
}

function checkGroup(group: Grouping, place: string, scope: SearchScope): Grouping {
  if (standardFields.get(group.field) === 'text') refuse(place, group.field, 'a field that is not cut into words');
  if (group.kind === 'time') {
    if (!timeFields.has(group.field)) refuse(place, `time buckets of ${group.field}`, 'timestamp, receive_time');
    const { unit, count } = group.interval ?? { unit: 'minute', count: 1 };
    const fits =
      Number.isSafeInteger(count) &&
      count > 0 &&
      (unit !== 'month' || count === 1 || count === 3) &&
      (unit !== 'year' || count === 1);
    if (!fits) refuse(place, `${count} ${unit}`, 'whole numbers from 1 on; months by 1 or 3, years by 1');
    return group;
  }
  const limit = group.limit ?? 1;
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > maxBuckets)
    refuse(place, `limit ${limit}`, `1 to ${maxBuckets}`);
  if (group.field !== 'streams') return group;
  if (scope.streams !== 'all')
    return { ...group, only: readableStreams(scope).filter((id) => group.only?.includes(id) ?? true) };
  return group;
}

function checkMetric(metric: SearchMetric, place: string, scope: SearchScope): void {
  const { kind, field } = metric;
  if (kind === 'count') return;
  if (field === undefined || field === '') return refuse(place, `${kind} without a field`, 'a field');
  if (!isLatest(metric) && standardFields.get(field) === 'text')
    refuse(place, `${kind} of ${field}`, 'a field that is not cut into words');
  const percentile = isLatest(metric) ? undefined : metric.percentile;
  if (kind === 'percentile' && !(percentile !== undefined && percentile >= 0 && percentile <= 100))
    refuse(place, `percentile ${percentile}`, '0 to 100');
  // The number of all streams of the messages would tell of those that may not be read.
  if (field === 'streams' && scope.streams !== 'all') refuse(place, `${kind} of streams`, 'a grouping by streams');
}

function refuse(place: string, got: string, allowed: string): never {
  throw searchErrors.create('SEARCH_AGGREGATE_INVALID', { place, got, allowed });
}
