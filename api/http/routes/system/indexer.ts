/** Indices and the store behind them: health, lists, close, open again, delete, failures. */
import { Type } from 'typebox';
import { apiIdOf } from '../../../../core/object-ids.js';
import type { Identity } from '../../../../schemas/access.js';
import { auditedQuery, someOf } from '../../audited.js';
import type { ApiServer } from '../../contract.js';
import { invalidMembers } from '../../failure.js';
import { operationsOf } from '../../objects/operations.js';
import { selectionOf } from '../../../control/dead-letters.js';
import { countsAll } from '../../objects/index-sets/index-counts.js';
import { nothing, nullable, textOf } from '../../objects/shapes.js';
import type { ApiServices } from '../../services.js';

const tags = ['Indices'];
const counts = 'numbers: reading of every message, or `index-sets:edit`';
const base = '/api/system/indexer';
const params = Type.Object({ index: Type.String({ minLength: 1, maxLength: 200, description: 'Name of an index.' }) });
const indexAnswer = Type.Object({
  name: Type.String(),
  index_set_id: Type.String(),
  index_set: Type.String(),
  current: Type.Boolean({ description: 'Messages are written to it.' }),
  state: Type.Enum(['open', 'closed', 'closing', 'deleting']),
  reopened: Type.Boolean({ description: 'Opened again by somebody: retention leaves it alone.' }),
  documents: nullable(Type.Integer({ description: 'Null for who may not read every message.' })),
  size_bytes: nullable(Type.Integer()),
  created_at: Type.String(),
});
const indexList = Type.Object({ total: Type.Integer(), indices: Type.Record(Type.String(), indexAnswer) });
const failureAnswer = Type.Object({
  letter_id: Type.String(),
  index: Type.String(),
  type: Type.String(),
  message: Type.String(),
  timestamp: Type.String(),
});

export function indexerRoutes(app: ApiServer, services: ApiServices): void {
  const indices = createIndexContext(services);
  addHealth(app, indices);
  addName(app, indices);
  addList(app, indices);
  addOpen(app, indices);
  addClosed(app, indices);
  addReopened(app, indices);
  addClose(app, indices);
  addReopen(app, indices);
  addDelete(app, indices);
  addFailures(app, indices);
  addFailureCount(app, indices);
}

type IndexContext = ReturnType<typeof createIndexContext>;

/** What the routes share. */
function createIndexContext(services: ApiServices) {
  const list = async (identity: Identity) => {
    const facts = await operationsOf(services).indexRequests.list(
      (services.rules()?.indexSets ?? []).map(({ id }) => id),
    );
    return facts.map(({ indexSet, documents, bytes, createdAt, ...rest }) => {
      const counted = countsAll(identity, indexSet);
      return {
        ...rest,
        index_set_id: apiIdOf(indexSet),
        index_set: indexSet,
        documents: counted ? documents : null,
        size_bytes: counted ? bytes : null,
        created_at: new Date(createdAt).toISOString(),
      };
    });
  };
  const byName = (indices: Awaited<ReturnType<typeof list>>) => ({
    total: indices.length,
    indices: Object.fromEntries(indices.map((index) => [index.name, index])),
  });
  return { services, list, byName };
}

function addHealth(app: ApiServer, { services, list }: IndexContext): void {
  app.get(
    `${base}/cluster/health`,
    {
      config: { permission: 'system:read' },
      schema: {
        summary: 'Whether the store works',
        tags,
        response: {
          200: Type.Object({
            status: Type.Enum(['green', 'yellow', 'red']),
            reason: Type.String(),
            shards: Type.Object({
              active: Type.Integer(),
              initializing: Type.Integer(),
              relocating: Type.Integer(),
              unassigned: Type.Integer(),
            }),
          }),
        },
      },
    },
    async ({ identity }) => {
      const { ok, reason } = await services.indices.health();
      const open = ok ? (await list(identity)).filter(({ state }) => state !== 'closed').length : 0;
      return {
        status: ok ? ('green' as const) : ('red' as const),
        reason,
        shards: { active: open, initializing: 0, relocating: 0, unassigned: 0 },
      };
    },
  );
}

function addName(app: ApiServer, { services }: IndexContext): void {
  app.get(
    `${base}/cluster/name`,
    {
      config: { permission: 'system:read' },
      schema: { summary: 'Which store it is', tags, response: { 200: Type.Object({ name: Type.String() }) } },
    },
    async () => ({ name: services.config.store.kind }),
  );
}

function addList(app: ApiServer, { byName, list }: IndexContext): void {
  app.get(
    `${base}/indices`,
    {
      config: { permission: 'system:read', checks: counts },
      schema: { summary: 'All indices', tags, response: { 200: indexList } },
    },
    async ({ identity }) => byName(await list(identity)),
  );
}

function addOpen(app: ApiServer, { byName, list }: IndexContext): void {
  app.get(
    `${base}/indices/open`,
    {
      config: { permission: 'system:read', checks: counts },
      schema: { summary: 'Open indices', tags, response: { 200: indexList } },
    },
    async ({ identity }) => byName((await list(identity)).filter(({ state }) => state !== 'closed')),
  );
}

function addClosed(app: ApiServer, { byName, list }: IndexContext): void {
  app.get(
    `${base}/indices/closed`,
    {
      config: { permission: 'system:read', checks: counts },
      schema: { summary: 'Closed indices', tags, response: { 200: indexList } },
    },
    async ({ identity }) => byName((await list(identity)).filter(({ state }) => state === 'closed')),
  );
}

function addReopened(app: ApiServer, { byName, list }: IndexContext): void {
  app.get(
    `${base}/indices/reopened`,
    {
      config: { permission: 'system:read', checks: counts },
      schema: { summary: 'Indices that somebody opened again', tags, response: { 200: indexList } },
    },
    async ({ identity }) => byName((await list(identity)).filter(({ reopened }) => reopened)),
  );
}

function addClose(app: ApiServer, { services }: IndexContext): void {
  app.post(
    `${base}/indices/:index/close`,
    {
      config: { permission: 'index-sets:edit', audit: 'index:close' },
      schema: {
        summary: 'Close an index, as soon as nothing writes to it any more',
        tags,
        params,
        response: { 204: nothing },
      },
    },
    async ({ params: { index } }, reply) => {
      await operationsOf(services).indexRequests.retire(index, 'close');
      return reply.code(204).send(null);
    },
  );
}

function addReopen(app: ApiServer, { services }: IndexContext): void {
  app.post(
    `${base}/indices/:index/reopen`,
    {
      config: { permission: 'index-sets:edit', audit: 'index:reopen' },
      schema: {
        summary: 'Open a closed index again; retention leaves it alone from then on',
        tags,
        params,
        response: { 204: nothing },
      },
    },
    async ({ params: { index } }, reply) => {
      await operationsOf(services).indexRequests.reopen(index);
      return reply.code(204).send(null);
    },
  );
}

function addDelete(app: ApiServer, { services }: IndexContext): void {
  app.delete(
    `${base}/indices/:index`,
    {
      config: { permission: 'index-sets:edit', audit: 'index:delete' },
      schema: {
        summary: 'Delete an index, as soon as nothing writes to it any more',
        tags,
        params,
        response: { 204: nothing },
      },
    },
    async ({ params: { index } }, reply) => {
      await operationsOf(services).indexRequests.retire(index, 'delete');
      return reply.code(204).send(null);
    },
  );
}

function addFailures(app: ApiServer, { services }: IndexContext): void {
  app.get(
    `${base}/failures`,
    {
      config: {
        permission: 'dead-letters',
        audit: 'search:dead_letters',
        audited: ({ query }) => auditedQuery(undefined, { ...someOf(query, ['limit', 'offset']) }),
      },
      schema: {
        summary: 'Messages that could not be stored, newest first; the dead letters have them whole',
        tags,
        querystring: Type.Object({
          limit: Type.Integer({ minimum: 0, maximum: 1_000, default: 50 }),
          offset: Type.Integer({ minimum: 0, maximum: 10_000, default: 0 }),
        }),
        response: {
          200: Type.Object({ total: Type.Integer(), count: Type.Integer(), failures: Type.Array(failureAnswer) }),
        },
      },
    },
    async ({ query: { limit, offset } }) => {
      const failures: { letter_id: string; index: string; type: string; message: string; timestamp: string }[] = [];
      const total = await operationsOf(services).deadLetters.list(
        selectionOf({}, services.deadLetterQuery),
        limit + offset,
        async (page) => {
          for (const { id, document } of page)
            failures.push({
              letter_id: id,
              index: textOf(document['index_set']),
              type: textOf(document['code']),
              message: textOf(document['message']),
              timestamp: textOf(document['receive_time']),
            });
        },
        AbortSignal.timeout(60_000),
      );
      const shown = failures.slice(offset, offset + limit);
      return { total, count: shown.length, failures: shown };
    },
  );
}

function addFailureCount(app: ApiServer, { services }: IndexContext): void {
  app.get(
    `${base}/failures/count`,
    {
      config: { permission: 'dead-letters' },
      schema: {
        summary: 'How many messages could not be stored since a time',
        tags,
        querystring: Type.Object({
          since: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601; default: ever.' })),
        }),
        response: { 200: Type.Object({ count: Type.Integer() }) },
      },
    },
    async ({ query: { since } }) => {
      const from = since === undefined ? undefined : Date.parse(since);
      if (from !== undefined && Number.isNaN(from)) throw invalidMembers({ since: ['This is no time.'] });
      return {
        count: await operationsOf(services).deadLetters.list(
          selectionOf(from === undefined ? {} : { from }, services.deadLetterQuery),
          0,
          async () => undefined,
          AbortSignal.timeout(60_000),
        ),
      };
    },
  );
}
