/** Messages and aggregations as tables, for scripts. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type, type Static } from 'typebox';
import { queryText, timeRangeBody, type TimeRangeBody } from '../../../../schemas/api-search.js';
import type { Grouping } from '../../../../schemas/query.js';
import type { SearchMetric } from '../../../../search/contract.js';
import { parseDuration } from '../../../../core/durations.js';
import { ownMember } from '../../../../core/own-member.js';
import { auditedQuery, membersOf, someOf, type Audited } from '../../audited.js';
import type { ApiServer } from '../../contract.js';
import { failure } from '../../failure.js';
import { figureKinds, figureOf } from '../../search/figures.js';
import { parseInterval } from '../../search/intervals.js';
import { whenLeaving } from '../../search/leaving.js';
import { messageRow } from '../../search/message-lists.js';
import { sendTable, tableTypes, type Table } from '../../search/tables.js';
import { effectiveRange, resolveRange } from '../../search/time-ranges.js';
import type { ApiServices } from '../../services.js';
import { readableStreams } from '../../stream-ids.js';

const name = Type.String({ maxLength: 256 });
const common = {
  query: Type.Optional(Type.Union([queryText(), Type.Null()])),
  streams: Type.Optional(Type.Union([Type.Array(Type.String({ maxLength: 100 }), { maxItems: 1_000 }), Type.Null()])),
  timerange: Type.Optional(Type.Union([timeRangeBody, Type.Null()])),
};
const order = Type.Union([
  Type.Literal('asc'),
  Type.Literal('desc'),
  Type.Literal('ASC'),
  Type.Literal('DESC'),
  Type.Literal('Ascending'),
  Type.Literal('Descending'),
]);
const messagesBody = Type.Object({
  ...common,
  sort: Type.Optional(Type.Union([name, Type.Null()])),
  sort_order: Type.Optional(Type.Union([order, Type.Null()])),
  from: Type.Optional(Type.Integer({ minimum: 0 })),
  size: Type.Optional(Type.Integer({ minimum: 0 })),
  fields: Type.Optional(Type.Union([Type.Array(name, { maxItems: 500 }), Type.Null()])),
});
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
const table = Type.Object({
  schema: Type.Array(
    Type.Object({
      column_type: Type.String(),
      type: Type.String(),
      function: Type.Optional(Type.String()),
      field: Type.Optional(Type.String()),
      name: Type.String(),
    }),
  ),
  datarows: Type.Array(Type.Array(Type.Unknown())),
  metadata: Type.Object({ effective_timerange: Type.Unknown(), total_results: Type.Optional(Type.Integer()) }),
});
const listQuery = {
  query: Type.Optional(queryText()),
  streams: Type.Optional(Type.Array(Type.String({ maxLength: 10_000 }))),
  timerange: Type.Optional(Type.String({ maxLength: 100, description: '15m, 2h, 1d, or words: last five minutes' })),
};

type MessagesBody = Static<typeof messagesBody>;
type AggregateBody = Static<typeof aggregateBody>;
const functions: typeof figureKinds = { ...figureKinds, average: 'average', cardinality: 'cardinality' };

const auditedSearch = ({ method, body, query }: FastifyRequest): Audited => {
  const asked = membersOf(method === 'POST' ? body : query);
  return auditedQuery(asked['query'], someOf(asked, ['streams', 'timerange']));
};

export function scriptingRoutes(app: ApiServer, services: ApiServices): void {
  const config = {
    permission: 'authenticated',
    checks: 'shows what may be read',
    audit: 'search:execute',
    audited: auditedSearch,
    produces: tableTypes,
  } as const;
  const response = { 200: table };
  app.post(
    '/api/search/messages',
    { config, schema: { summary: 'Messages as a table', tags: ['Scripting'], body: messagesBody, response } },
    (request, reply) => messages(services, request, reply, request.body),
  );
  app.get(
    '/api/search/messages',
    {
      config,
      schema: {
        summary: 'Messages as a table',
        tags: ['Scripting'],
        querystring: Type.Object({
          ...listQuery,
          sort: Type.Optional(name),
          sortOrder: Type.Optional(order),
          from: Type.Optional(Type.Integer({ minimum: 0 })),
          size: Type.Optional(Type.Integer({ minimum: 0 })),
          fields: Type.Optional(Type.Array(Type.String({ maxLength: 10_000 }))),
        }),
        response,
      },
    },
    (request, reply) => {
      const { fields, streams, timerange, sortOrder, ...rest } = request.query;
      return messages(services, request, reply, {
        ...rest,
        ...(sortOrder === undefined ? {} : { sort_order: sortOrder }),
        fields: split(fields) ?? null,
        streams: split(streams) ?? null,
        timerange: rangeOfText(timerange) ?? null,
      });
    },
  );
  app.post(
    '/api/search/aggregate',
    { config, schema: { summary: 'An aggregation as a table', tags: ['Scripting'], body: aggregateBody, response } },
    (request, reply) => aggregate(services, request, reply, request.body),
  );
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
      const pair = (text: string): [string, string | undefined] => [
        text.split(':')[0] as string,
        text.includes(':') ? text.slice(text.indexOf(':') + 1) : undefined,
      ];
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

async function messages(
  services: ApiServices,
  request: FastifyRequest,
  reply: FastifyReply,
  body: MessagesBody,
): Promise<Table> {
  const { identity } = request;
  const now = Date.now();
  const range = resolveRange(body.timerange, now);
  const fields = body.fields ?? ['source', 'timestamp'];
  const answer = await services.searcher.messages(
    {
      query: body.query ?? '',
      ...range,
      streams: readableStreams(services, identity, body.streams),
      limit: body.size ?? 10,
      offset: body.from ?? 0,
      fields: [...new Set(fields)],
      sort:
        body.sort === undefined || body.sort === null
          ? undefined
          : { field: body.sort, direction: /^asc/i.test(body.sort_order ?? '') ? 'asc' : 'desc' },
    },
    { scope: identity.scope, signal: whenLeaving(reply), fairnessKey: identity.username },
  );
  const rows = answer.messages.map(messageRow);
  return sendTable(request, reply, {
    schema: fields.map((field) => ({ column_type: 'field', type: 'string', field, name: `field: ${field}` })),
    datarows: rows.map(({ message, index }) =>
      fields.map((field) => (field === '_index' ? index : (message[field] ?? null))),
    ),
    metadata: { effective_timerange: effectiveRange(range, now), total_results: answer.total },
  });
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
    schema: [
      ...groups.map(({ kind, field }) => ({
        column_type: 'grouping' as const,
        type: kind === 'time' ? 'date' : 'string',
        field,
        name: `grouping: ${field}`,
      })),
      ...body.metrics.map(({ function: kind, field }) => ({
        column_type: 'metric' as const,
        type: ownMember(functions, kind) === 'latest' ? 'string' : 'numeric',
        function: kind,
        ...(field === undefined || field === null ? {} : { field }),
        name: `metric: ${kind}(${field ?? ''})`,
      })),
    ],
    datarows: found.buckets.map(({ key, values }) => [
      ...key.map((part, at) => (groups[at]?.kind === 'time' ? new Date(Number(part)).toISOString() : part)),
      ...values,
    ]),
    metadata: { effective_timerange: effectiveRange(range, now), total_results: found.total },
  });
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
  return figureOf(
    kind,
    field === null || field === '' ? undefined : field,
    (configuration as { percentile?: unknown } | null | undefined)?.percentile,
  );
}

const split = (texts: readonly string[] | undefined): string[] | undefined =>
  texts
    ?.flatMap((text) => text.split(','))
    .map((text) => text.trim())
    .filter((text) => text !== '');

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text))
    throw failure('API_VALUE_INVALID', `groups: The limit cannot be read. Got ${JSON.stringify(text.slice(0, 50))}.`);
  return Number(text);
}

function rangeOfText(text: string | undefined): TimeRangeBody | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const duration = parseDuration(text);
  return duration === undefined
    ? { type: 'keyword', keyword: text }
    : { type: 'relative', range: Math.ceil(duration / 1000) };
}
