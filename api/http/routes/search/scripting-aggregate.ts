/** An aggregation as a table. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type, type Static } from 'typebox';
import { ownMember } from '../../../../core/own-member.js';
import type { Grouping } from '../../../../schemas/query.js';
import type { SearchMetric } from '../../../../search/contract.js';
import { membersOf } from '../../audited.js';
import type { ApiServer } from '../../contract.js';
import { failure } from '../../failure.js';
import { figureKinds, figureOf } from '../../search/figures.js';
import { parseInterval } from '../../search/times/intervals.js';
import { whenLeaving } from '../../search/leaving.js';
import { sendTable, type Column, type Table } from '../../search/tables.js';
import { effectiveRange, resolveRange } from '../../search/times/time-ranges.js';
import type { ApiServices } from '../../services.js';
import { readableStreams } from '../../stream-ids.js';
import { common, config, listQuery, name, order, rangeOfText, response, split } from './scripting-shapes.js';

const aggregateBody = Type.Object({
  ...common,
  group_by: Type.Array(
    Type.Object({
      field: name,
      limit: Type.Optional(Type.Integer({ minimum: 1 })),
      granularity: Type.Optional(
        Type.String({ maxLength: 20, description: 'Width of time buckets: 30s, 5m, 1h, 1d.' }),
      ),
    }),
    { maxItems: 5 },
  ),
  metrics: Type.Array(
    Type.Object({
      function: Type.String({ maxLength: 30 }),
      field: Type.Optional(Type.Union([name, Type.Null()])),
      sort: Type.Optional(Type.Union([order, Type.Null()])),
      configuration: Type.Optional(Type.Unknown()),
    }),
    { maxItems: 50 },
  ),
});

type AggregateBody = Static<typeof aggregateBody>;
const functions: typeof figureKinds = { ...figureKinds, average: 'average', cardinality: 'cardinality' };

export function searchAggregate(app: ApiServer, services: ApiServices): void {
  app.post(
    '/api/search/aggregate',
    { config, schema: { summary: 'An aggregation as a table', tags: ['Scripting'], body: aggregateBody, response } },
    (request, reply) => aggregate(services, request, reply, request.body),
  );
}

export function searchAggregateByQuery(app: ApiServer, services: ApiServices): void {
  app.get(
    '/api/search/aggregate',
    {
      config,
      schema: {
        summary: 'An aggregation as a table',
        tags: ['Scripting'],
        querystring: Type.Object({
          ...listQuery,
          groups: Type.Array(Type.String({ maxLength: 300, description: 'field or field:limit' })),
          metrics: Type.Array(Type.String({ maxLength: 300, description: 'count or avg:field' })),
        }),
        response,
      },
    },
    (request, reply) => {
      const { groups, metrics, streams, timerange, query } = request.query;
      return aggregate(services, request, reply, {
        ...(query === undefined ? {} : { query }),
        streams: split(streams) ?? null,
        timerange: rangeOfText(timerange) ?? null,
        group_by: (split(groups) ?? []).map((text) => {
          const [field, limit] = pair(text);
          return { field, ...(limit === undefined ? {} : { limit: wholeNumber(limit) }) };
        }),
        metrics: (split(metrics) ?? []).map((text) => {
          const [kind, field] = pair(text);
          return { function: kind, ...(field === undefined ? {} : { field }) };
        }),
      });
    },
  );
}

async function aggregate(
  services: ApiServices,
  request: FastifyRequest,
  reply: FastifyReply,
  body: AggregateBody,
): Promise<Table> {
  const { identity } = request;
  const now = Date.now();
  const range = resolveRange(body.timerange, now);
  const groups = body.group_by.map(groupingOf);
  const metrics = body.metrics.map(metricOf);
  const sorted = body.metrics.findIndex(({ sort }) => sort !== undefined && sort !== null);
  const found = await services.searcher.aggregate(
    {
      query: body.query ?? '',
      ...range,
      streams: readableStreams(services, identity, body.streams),
      aggregate: {
        groups,
        metrics,
        sort:
          sorted < 0 || groups.every(({ kind }) => kind === 'time')
            ? undefined
            : { by: sorted, direction: /^asc/i.test(body.metrics[sorted]?.sort ?? '') ? 'asc' : 'desc' },
      },
    },
    { scope: identity.scope, signal: whenLeaving(reply), fairnessKey: identity.username },
  );
  return sendTable(request, reply, {
    schema: columnsOf(groups, body),
    datarows: found.buckets.map(({ key, values }) => [
      ...key.map((part, at) => (groups[at]?.kind === 'time' ? new Date(Number(part)).toISOString() : part)),
      ...values,
    ]),
    metadata: { effective_timerange: effectiveRange(range, now), total_results: found.total },
  });
}

function columnsOf(groups: readonly Grouping[], { metrics }: AggregateBody): Column[] {
  return [
    ...groups.map(({ kind, field }) => ({
      column_type: 'grouping' as const,
      type: kind === 'time' ? 'date' : 'string',
      field,
      name: `grouping: ${field}`,
    })),
    ...metrics.map(({ function: kind, field }) => ({
      column_type: 'metric' as const,
      type: ownMember(functions, kind) === 'latest' ? 'string' : 'numeric',
      function: kind,
      ...(field === undefined || field === null ? {} : { field }),
      name: `metric: ${kind}(${field ?? ''})`,
    })),
  ];
}

function groupingOf({ field, limit, granularity }: AggregateBody['group_by'][number]): Grouping {
  if (granularity === undefined && field !== 'timestamp') return { kind: 'values', field, limit: limit ?? 10 };
  const interval = parseInterval(granularity ?? '1h');
  if (interval === undefined)
    throw failure(
      'API_VALUE_INVALID',
      `granularity: The width cannot be read. Got ${JSON.stringify(granularity)}. Allowed: 30s, 5m, 1h, 1d, 1w, 1M.`,
    );
  return { kind: 'time', field, interval };
}

function metricOf({ function: named, field, configuration }: AggregateBody['metrics'][number]): SearchMetric {
  const kind = ownMember(functions, named);
  if (kind === undefined)
    throw failure(
      'API_VALUE_INVALID',
      `metrics: There is no function ${JSON.stringify(named)}. Allowed: ${Object.keys(functions).join(', ')}.`,
    );
  return figureOf(kind, field === null || field === '' ? undefined : field, membersOf(configuration)['percentile']);
}

/** `field:limit` or `function:field`: what stands before the first colon, and behind it. */
function pair(text: string): [head: string, rest: string | undefined] {
  const at = text.indexOf(':');
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text))
    throw failure('API_VALUE_INVALID', `groups: The limit cannot be read. Got ${JSON.stringify(text.slice(0, 50))}.`);
  return Number(text);
}
