/** Messages as a table. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type, type Static } from 'typebox';
import type { ApiServer } from '../../contract.js';
import { whenLeaving } from '../../search/leaving.js';
import { messageRow } from '../../search/message-lists.js';
import { sendTable, type Table } from '../../search/tables.js';
import { effectiveRange, resolveRange } from '../../search/times/time-ranges.js';
import type { ApiServices } from '../../services.js';
import { readableStreams } from '../../stream-ids.js';
import { common, config, listQuery, name, order, rangeOfText, response, split } from './scripting-shapes.js';

const messagesBody = Type.Object({
  ...common,
  sort: Type.Optional(Type.Union([name, Type.Null()])),
  sort_order: Type.Optional(Type.Union([order, Type.Null()])),
  from: Type.Optional(Type.Integer({ minimum: 0 })),
  size: Type.Optional(Type.Integer({ minimum: 0 })),
  fields: Type.Optional(Type.Union([Type.Array(name, { maxItems: 500 }), Type.Null()])),
});

type MessagesBody = Static<typeof messagesBody>;

export function searchMessages(app: ApiServer, services: ApiServices): void {
  app.post(
    '/api/search/messages',
    { config, schema: { summary: 'Messages as a table', tags: ['Scripting'], body: messagesBody, response } },
    (request, reply) => messages(services, request, reply, request.body),
  );
}

export function searchMessagesByQuery(app: ApiServer, services: ApiServices): void {
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
