/** CSV exports of searches. */
import { Type } from 'typebox';
import {
  queryBody,
  queryText,
  timeRangeBody,
  type QueryOfSearchBody,
  type SearchTypeBody,
} from '../../../../schemas/api-search.js';
import type { Identity } from '../../../../schemas/access.js';
import { auditedQuery, someOf } from '../../audited.js';
import type { ApiServer } from '../../contract.js';
import { failure } from '../../failure.js';
import { exportsOf, type ExportRequest, type Exports } from '../../search/exports.js';
import { isTimeZone } from '../../search/times/time-zones.js';
import { createViewStore, type ViewStore } from '../../search/view-store.js';
import { askedBy } from '../../search/questions.js';
import { messageSort } from '../../search/sort-keys.js';
import type { ApiServices } from '../../services.js';

const tags = ['Export'];
const defaultFields = ['timestamp', 'source', 'message'];

const exportBody = Type.Object(
  {
    query_string: Type.Optional(Type.Union([queryBody, queryText(), Type.Null()])),
    timerange: Type.Optional(Type.Union([timeRangeBody, Type.Null()])),
    streams: Type.Optional(Type.Union([Type.Array(Type.String({ maxLength: 100 }), { maxItems: 1_000 }), Type.Null()])),
    fields_in_order: Type.Optional(
      Type.Union([Type.Array(Type.String({ maxLength: 256 }), { minItems: 1, maxItems: 500 }), Type.Null()]),
    ),
    chunk_size: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
    time_zone: Type.Optional(Type.Union([Type.String({ maxLength: 64 }), Type.Null()])),
    limit: Type.Optional(Type.Union([Type.Integer({ minimum: 1 }), Type.Null()])),
    sort: Type.Optional(
      Type.Union([Type.Array(Type.Record(Type.String(), Type.Unknown()), { maxItems: 5 }), Type.Null()], {
        description: '`[{field, order}]`; order is ASC or DESC. Default: that of the search, or newest first.',
      }),
    ),
  },
  { description: 'Default: everything of the last five minutes; timestamp, source and message.' },
);

const csv = { 200: { content: { 'text/csv': { schema: Type.String() } } } };
const config = {
  permission: 'authenticated',
  checks: 'shows what may be read',
  audit: 'search:export',
  produces: ['text/csv'],
} as const;

interface ExportParts {
  readonly services: ApiServices;
  readonly store: ViewStore;
  readonly exports: Exports;
}

export function exportRoutes(app: ApiServer, services: ApiServices): void {
  const { max_searches: maxSearches, max_views: maxViews } = services.config.api;
  const store = createViewStore(services.state, { maxSearches, maxViews });
  const exports = exportsOf(services);
  app.addHook('preClose', async () => exports.stop());
  const parts = { services, store, exports };
  exportMessages(app, parts);
  exportSearch(app, parts);
  listExports(app, parts);
  cancelExport(app, parts);
}

function exportMessages(app: ApiServer, { services, exports }: ExportParts): void {
  app.post(
    '/api/views/search/messages',
    {
      config,
      schema: {
        summary: 'Export messages as CSV',
        description: 'All rows in order, of what is there when it begins. The export ends when the client leaves.',
        tags,
        body: Type.Optional(exportBody),
        response: csv,
      },
    },
    async (request, reply) => {
      const body = (request.body as ExportBody | undefined) ?? {};
      const text = typeof body.query_string === 'string' ? body.query_string : body.query_string?.query_string;
      request.audited = auditedQuery(text, { ...asked(body) });
      const query: QueryOfSearchBody = {
        query: { query_string: text ?? '' },
        ...(body.timerange === null || body.timerange === undefined ? {} : { timerange: body.timerange }),
        streams: body.streams ?? [],
      };
      return exports.send(request, reply, wanted(services, request, { query, type: {}, body }));
    },
  );
}

function exportSearch(app: ApiServer, { services, store, exports }: ExportParts): void {
  for (const url of ['/api/views/search/messages/:searchId', '/api/views/search/messages/:searchId/:searchTypeId']) {
    app.post(
      url,
      {
        config,
        schema: {
          summary: 'Export a search as CSV',
          tags,
          params: Type.Object({
            searchId: Type.String({ maxLength: 64 }),
            ...(url.endsWith(':searchTypeId') ? { searchTypeId: Type.String({ maxLength: 64 }) } : {}),
          }),
          body: Type.Optional(exportBody),
          response: csv,
        },
      },
      async (request, reply) => {
        const { searchId, searchTypeId } = request.params;
        const search = await store.search(searchId.toLowerCase());
        if (search === undefined) throw failure('API_NOT_FOUND', 'There is no such search.');
        const query = search.queries.find(
          ({ search_types: types = [] }) => searchTypeId === undefined || types.some(({ id }) => id === searchTypeId),
        );
        if (query === undefined) throw failure('API_NOT_FOUND', 'The search has no such part.');
        const body = (request.body as ExportBody | undefined) ?? {};
        request.audited = {
          object: `search=${search.id}`,
          details: { query: query.query?.query_string ?? '', streams: query.streams, ...asked(body) },
        };
        const type =
          (query.search_types ?? []).find(({ id, type: kind }) =>
            searchTypeId === undefined ? kind === 'messages' : id === searchTypeId,
          ) ?? {};
        return exports.send(request, reply, wanted(services, request, { query, type, body }));
      },
    );
  }
}

function listExports(app: ApiServer, { exports }: ExportParts): void {
  app.get(
    '/api/exports',
    {
      config: { permission: 'authenticated', checks: 'of others: an administrator' },
      schema: {
        summary: 'Exports under way',
        description: 'Own ones; administrators see all.',
        tags,
        response: { 200: Type.Object({ exports: Type.Array(exportState) }) },
      },
    },
    async ({ identity }) => ({
      exports: (await exports.list())
        .filter(({ owner_id: owner }) => identity.administrator || owner === identity.userId)
        .map((one) => ({ ...one, total: one.total ?? null })),
    }),
  );
}

function cancelExport(app: ApiServer, { exports }: ExportParts): void {
  app.delete(
    '/api/exports/:exportId',
    {
      config: { permission: 'authenticated', checks: 'of others: an administrator', audit: 'export:cancel' },
      schema: {
        summary: 'Cancel an export',
        tags,
        params: Type.Object({ exportId: Type.String({ maxLength: 64 }) }),
        response: { 204: Type.Null() },
      },
    },
    async ({ identity, params }, reply) => {
      const found = (await exports.list()).find(
        ({ id, owner_id: owner }) => id === params.exportId && (identity.administrator || owner === identity.userId),
      );
      if (found === undefined) throw failure('API_NOT_FOUND', 'There is no such export.');
      await exports.cancel(found.id);
      return reply.code(204).send(null);
    },
  );
}

const exportState = Type.Object({
  id: Type.String(),
  owner: Type.String(),
  query: Type.String(),
  started_at: Type.String(),
  rows: Type.Integer(),
  total: Type.Union([Type.Integer(), Type.Null()]),
});

const asked = (body: ExportBody): Readonly<Record<string, unknown>> => someOf(body, ['streams', 'timerange']);

interface ExportBody {
  readonly query_string?: { readonly query_string: string } | string | null;
  readonly timerange?: QueryOfSearchBody['timerange'] | null;
  readonly streams?: string[] | null;
  readonly fields_in_order?: readonly string[] | null;
  readonly time_zone?: string | null;
  readonly limit?: number | null;
  readonly sort?: readonly Readonly<Record<string, unknown>>[] | null;
}

function wanted(
  services: ApiServices,
  { identity }: { readonly identity: Identity },
  { query, type, body }: { query: QueryOfSearchBody; type: Partial<SearchTypeBody>; body: ExportBody },
): ExportRequest {
  if (body.time_zone !== undefined && body.time_zone !== null && !isTimeZone(body.time_zone))
    throw failure('API_VALUE_INVALID', `time_zone: There is no such time zone. Got ${JSON.stringify(body.time_zone)}.`);
  const { question } = askedBy(
    { services, identity, now: Date.now() },
    query,
    type,
    body.timerange === undefined || body.timerange === null ? undefined : { timerange: body.timerange },
  );
  return {
    question,
    fields:
      body.fields_in_order ??
      (type.fields !== undefined && type.fields !== null && type.fields.length > 0 ? type.fields : defaultFields),
    limit: body.limit ?? undefined,
    timeZone: body.time_zone ?? undefined,
    sort: messageSort(body.sort ?? type.sort),
  };
}
