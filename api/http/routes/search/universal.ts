/** The searches that existing scripts make with one GET: by a relative, an absolute or a keyword time range. */
import type { FastifyRequest } from 'fastify';
import { Type, type Static, type TObject } from 'typebox';
import { acceptable } from '../../accept.js';
import { auditedQuery, membersOf, someOf, type Audited } from '../../audited.js';
import { queryText, type TimeRangeBody } from '../../../../schemas/api-search.js';
import type { Identity } from '../../../../schemas/access.js';
import type { MessagesAnswer, SearchQuestion, SortOrder } from '../../../../search/contract.js';
import type { ApiServer } from '../../contract.js';
import { failure } from '../../failure.js';
import { exportsOf } from '../../search/exports.js';
import { whenLeaving } from '../../search/leaving.js';
import { failuresOf, messageRow } from '../../search/message-lists.js';
import { iso, resolveRange } from '../../search/times/time-ranges.js';
import type { ApiServices } from '../../services.js';
import { readableStreams } from '../../stream-ids.js';

const common = {
  query: queryText({ default: '*' }),
  limit: Type.Integer({ minimum: 0, default: 150, description: 'At most 10000.' }),
  offset: Type.Integer({ minimum: 0, default: 0 }),
  filter: Type.Optional(Type.String({ maxLength: 10_000, description: 'streams:<id>[,<id>]' })),
  streams: Type.Optional(Type.Array(Type.String({ maxLength: 10_000 }), { maxItems: 1_000 })),
  fields: Type.Optional(Type.String({ maxLength: 10_000, description: 'Names joined by commas.' })),
  sort: Type.String({ default: 'timestamp:desc', maxLength: 300, description: 'field:asc or field:desc' }),
  decorate: Type.Optional(Type.Boolean()),
  batch_size: Type.Optional(Type.Integer({ minimum: 1 })),
};
const ranges = {
  relative: { range: Type.Integer({ minimum: 0, description: 'Seconds back from now; 0: everything.' }) },
  absolute: { from: Type.String({ maxLength: 100 }), to: Type.String({ maxLength: 100 }) },
  keyword: { keyword: Type.String({ maxLength: 200 }), timezone: Type.Optional(Type.String({ maxLength: 64 })) },
} as const;

const answer = Type.Object({
  query: Type.String(),
  built_query: Type.String(),
  used_indices: Type.Array(Type.Unknown()),
  messages: Type.Array(
    Type.Object({
      message: Type.Record(Type.String(), Type.Unknown()),
      index: Type.String(),
      highlight_ranges: Type.Object({}),
      decoration_stats: Type.Null(),
    }),
  ),
  fields: Type.Array(Type.String()),
  time: Type.Integer(),
  total_results: Type.Integer(),
  from: Type.String(),
  to: Type.String(),
  partial: Type.Optional(Type.Boolean()),
  failures: Type.Optional(Type.Array(Type.Unknown())),
});

const defaultFields = ['timestamp', 'source', 'message'];

const kinds = ['relative', 'absolute', 'keyword'] as const;
type Kind = (typeof kinds)[number];

export function universalRoutes(app: ApiServer, services: ApiServices): void {
  for (const kind of kinds) {
    search(app, services, kind);
    exportRows(app, services, kind);
  }
}

function schemaOf(kind: Kind) {
  return {
    summary: `Search by ${kind === 'relative' || kind === 'keyword' ? 'a' : 'an'} ${kind} time range`,
    tags: ['Search'],
    querystring: Type.Object({ ...common, ...ranges[kind] }),
    response: { 200: answer },
  };
}

function search(app: ApiServer, services: ApiServices, kind: Kind): void {
  app.get(
    `/api/search/universal/${kind}`,
    {
      config: {
        permission: 'authenticated',
        checks: 'shows what may be read',
        audit: 'search:execute',
        audited: auditedSearch,
        produces: ['application/json', 'text/csv'],
      },
      schema: schemaOf(kind),
    },
    async (request, reply) => {
      const asked = read(services, request, { type: kind, ...request.query });
      if (acceptable(request.headers.accept, ['application/json', 'text/csv']) === 'text/csv')
        return exportsOf(services).send(request, reply, {
          ...asked,
          fields: asked.fields ?? defaultFields,
          limit: request.query.limit,
        });
      const found = await services.searcher.messages(
        {
          ...asked.question,
          sort: asked.sort,
          fields: asked.fields,
          limit: request.query.limit,
          offset: request.query.offset,
        },
        { scope: request.identity.scope, signal: whenLeaving(reply), fairnessKey: request.identity.username },
      );
      return answerOf(asked, found);
    },
  );
}

function exportRows(app: ApiServer, services: ApiServices, kind: Kind): void {
  app.get(
    `/api/search/universal/${kind}/export`,
    {
      exposeHeadRoute: false,
      config: {
        permission: 'authenticated',
        checks: 'shows what may be read',
        audit: 'search:export',
        audited: auditedSearch,
        produces: ['text/csv'],
      },
      schema: {
        ...schemaOf(kind),
        summary: `${schemaOf(kind).summary}, as CSV`,
        tags: ['Export'],
        querystring: Type.Object({
          ...common,
          ...ranges[kind],
          limit: Type.Integer({ minimum: 0, default: 0, description: '0: all.' }),
        }),
        response: { 200: { content: { 'text/csv': { schema: Type.String() } } } },
      },
    },
    async (request, reply) => {
      const asked = read(services, request, { type: kind, ...(request.query as object) } as Question);
      const { limit } = request.query as { limit: number };
      return exportsOf(services).send(request, reply, {
        ...asked,
        fields: asked.fields ?? defaultFields,
        limit: limit === 0 ? undefined : limit,
      });
    },
  );
}

function answerOf(asked: Asked, found: MessagesAnswer): Static<typeof answer> {
  const messages = found.messages.map(messageRow);
  return {
    query: asked.question.query,
    built_query: asked.question.query,
    used_indices: [],
    messages,
    fields: [...new Set(messages.flatMap(({ message }) => Object.keys(message)))]
      .filter((name) => name !== '_id')
      .sort(),
    time: Math.round(found.tookMs),
    total_results: found.total,
    from: iso(asked.question.from ?? 0),
    to: iso(asked.question.to ?? asked.now),
    ...failuresOf(found.failures),
  };
}

/** Also of a search that is refused because of its streams. */
const auditedSearch = ({ query }: FastifyRequest): Audited =>
  auditedQuery(membersOf(query)['query'], someOf(query, ['filter', 'streams', 'range', 'from', 'to', 'keyword']));

interface Asked {
  readonly question: SearchQuestion;
  readonly fields: readonly string[] | undefined;
  readonly sort: SortOrder;
  readonly now: number;
}

type Question = Static<TObject<typeof common>> & TimeRangeBody;

function read(services: ApiServices, { identity }: { readonly identity: Identity }, question: Question): Asked {
  const now = Date.now();
  const { query, filter, streams = [], fields, sort } = question;
  const [, named = ''] = /^\s*streams:\s*([^\s].*)$/.exec(filter ?? '') ?? [];
  if (filter !== undefined && filter.trim() !== '' && filter.trim() !== '*' && named === '')
    throw failure('API_VALUE_INVALID', 'filter: This filter cannot be used. Allowed: streams:<id>[,<id>].');
  const keys = [named, ...streams]
    .flatMap((text) => text.split(','))
    .map((key) => key.trim())
    .filter((key) => key !== '');
  const { from, to } = resolveRange(question, now);
  return {
    question: { query, from, to, streams: readableStreams(services, identity, keys) },
    now,
    fields:
      fields === undefined || fields.trim() === '' || fields.trim() === '*'
        ? undefined
        : fields
            .split(',')
            .map((name) => name.trim())
            .filter((name) => name !== ''),
    sort: services.language.sortOrder(sort, 'sort'),
  };
}
