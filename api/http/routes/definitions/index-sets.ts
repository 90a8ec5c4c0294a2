/** Index sets: list, read, create, change, delete, rotate now, how much they hold. */
import { Type } from 'typebox';
import { apiIdOf } from '../../../../core/object-ids.js';
import type { CatalogItem } from '../../../../definitions/contract.js';
import { has, type Identity } from '../../../../schemas/access.js';
import type { ApiServer } from '../../contract.js';
import { failure, invalidMembers } from '../../failure.js';
import { assertChangeable, assertRemovable, found, storing } from '../../objects/changing.js';
import { indexCounts, sumOf } from '../../objects/index-sets/index-counts.js';
import {
  indexSetAnswer,
  indexSetBody,
  showIndexSet,
  statsAnswer,
  takeIndexSet,
} from '../../objects/index-sets/index-set-shape.js';
import { nothing, objectId } from '../../objects/shapes.js';
import { operationsOf } from '../../objects/operations.js';
import type { ApiServices } from '../../services.js';

const tags = ['Index sets'];
const counts = 'counts what may be read';
const base = '/api/system/indices/index_sets';
const params = Type.Object({ indexSetId: objectId('Index set.') });
const memberNames = { id: 'index_prefix' };
const defaultSet = 'sluice_default';
const listQuery = Type.Object({
  skip: Type.Integer({ minimum: 0, default: 0 }),
  limit: Type.Integer({ minimum: 0, maximum: 10_000, default: 0, description: '0: all.' }),
  stats: Type.Boolean({ default: false, description: 'With numbers of indices, documents and bytes.' }),
});

export function indexSetRoutes(app: ApiServer, services: ApiServices): void {
  const sets = createIndexSetContext(services);
  addList(app, sets);
  addStatsOfAll(app, sets);
  addRead(app, sets);
  addStats(app, sets);
  addCreate(app, sets);
  addChange(app, sets);
  addDelete(app, sets);
  addRotate(app, sets);
}

type IndexSetContext = ReturnType<typeof createIndexSetContext>;

/** What the routes share. */
function createIndexSetContext(services: ApiServices) {
  const { definitions } = services;
  const inForce = (id: string) => services.rules()?.indexSets.find((set) => set.id === id);
  const show = (item: CatalogItem, identity: Identity) =>
    showIndexSet(item, inForce(item.id), has(identity, 'index-sets:edit'));
  const itemOf = async (name: string) => found('index set', (await definitions.catalog()).find('index-sets', name));
  return { definitions, services, show, itemOf };
}

function addList(app: ApiServer, { definitions, services, show }: IndexSetContext): void {
  app.get(
    base,
    {
      config: { permission: 'system:read', checks: counts },
      schema: {
        summary: 'Index sets',
        tags,
        querystring: listQuery,
        response: {
          200: Type.Object({
            total: Type.Integer(),
            index_sets: Type.Array(indexSetAnswer),
            stats: Type.Record(Type.String(), statsAnswer),
          }),
        },
      },
    },
    async ({ identity, query: { skip, limit, stats } }) => {
      const items = (await definitions.catalog()).list('index-sets');
      const shown = items.slice(skip, limit === 0 ? undefined : skip + limit);
      const entries = stats
        ? await Promise.all(
            shown.map(async ({ id }) => [apiIdOf(id), await indexCounts(services, id, identity)] as const),
          )
        : [];
      return {
        total: items.length,
        index_sets: shown.map((item) => show(item, identity)),
        stats: Object.fromEntries(entries),
      };
    },
  );
}

function addStatsOfAll(app: ApiServer, { definitions, services }: IndexSetContext): void {
  app.get(
    `${base}/stats`,
    {
      config: { permission: 'system:read', checks: counts },
      schema: { summary: 'What all index sets hold together', tags, response: { 200: statsAnswer } },
    },
    async ({ identity }) =>
      sumOf(
        await Promise.all(
          (await definitions.catalog()).list('index-sets').map(({ id }) => indexCounts(services, id, identity)),
        ),
      ),
  );
}

function addRead(app: ApiServer, { show, itemOf }: IndexSetContext): void {
  app.get(
    `${base}/:indexSetId`,
    {
      config: { permission: 'system:read' },
      schema: { summary: 'One index set', tags, params, response: { 200: indexSetAnswer } },
    },
    async ({ params: { indexSetId }, identity }) => show(await itemOf(indexSetId), identity),
  );
}

function addStats(app: ApiServer, { services, itemOf }: IndexSetContext): void {
  app.get(
    `${base}/:indexSetId/stats`,
    {
      config: { permission: 'system:read', checks: counts },
      schema: { summary: 'What an index set holds', tags, params, response: { 200: statsAnswer } },
    },
    async ({ params: { indexSetId }, identity }) => indexCounts(services, (await itemOf(indexSetId)).id, identity),
  );
}

function addCreate(app: ApiServer, { definitions, services, show, itemOf }: IndexSetContext): void {
  app.post(
    base,
    {
      config: { permission: 'index-sets:edit', audit: 'index_set:create' },
      schema: {
        summary: 'Create an index set; its first index is there when this is answered',
        tags,
        body: indexSetBody,
        response: { 200: indexSetAnswer },
      },
    },
    async (request) => {
      const { index_prefix: id } = request.body;
      if (id === undefined) throw invalidMembers({ index_prefix: ['An index set needs a prefix.'] });
      if ((await definitions.catalog()).find('index-sets', id) !== undefined)
        throw failure('API_EXISTS', `There is an index set ${id} already.`);
      if (await operationsOf(services).indexRequests.leaving(id))
        throw failure(
          'API_CHANGING',
          `Processors have not left the index set ${id} yet, which was deleted. Try again in a moment.`,
          { headers: { 'retry-after': '1' } },
        );
      await storing(
        () =>
          definitions
            .writer()
            .create('index-sets', id, { definition: { id, ...takeIndexSet(request.body) } }, request.identity.username),
        memberNames,
      );
      request.audited = { object: id };
      return show(await itemOf(id), request.identity);
    },
  );
}

function addChange(app: ApiServer, { itemOf, definitions, show }: IndexSetContext): void {
  app.put(
    `${base}/:indexSetId`,
    {
      config: { permission: 'index-sets:edit', audit: 'index_set:update' },
      schema: {
        summary: 'Change what is given of an index set; the prefix stays',
        tags,
        params,
        body: indexSetBody,
        response: { 200: indexSetAnswer },
      },
    },
    async ({ params: { indexSetId }, body, identity }) => {
      const item = await itemOf(indexSetId);
      assertChangeable('index set', item);
      // Scripts change the default index set by the prefix that it has in Graylog; the answer says which it has here.
      if (body.index_prefix !== undefined && body.index_prefix !== item.id && item.id !== defaultSet)
        throw invalidMembers({ index_prefix: ['The prefix of an index set never changes.'] });
      await storing(
        () =>
          definitions
            .writer()
            .change(
              'index-sets',
              item.id,
              (before) => ({ definition: { ...before?.definition, id: item.id, ...takeIndexSet(body) } }),
              identity.username,
            ),
        memberNames,
      );
      return show(await itemOf(item.id), identity);
    },
  );
}

function addDelete(app: ApiServer, { itemOf, services, definitions }: IndexSetContext): void {
  app.delete(
    `${base}/:indexSetId`,
    {
      config: { permission: 'index-sets:edit', audit: 'index_set:delete' },
      schema: {
        summary: 'Delete an index set that no stream uses',
        tags,
        params,
        querystring: Type.Object({
          delete_indices: Type.Boolean({
            default: true,
            description: 'Its indices too; otherwise they stay in the store, and no search finds them.',
          }),
        }),
        response: { 204: nothing },
      },
    },
    async ({ params: { indexSetId }, query: { delete_indices: deleteIndices }, identity }, reply) => {
      const item = await itemOf(indexSetId);
      assertRemovable('index set', item);
      const { indexRequests } = operationsOf(services);
      await storing(() => definitions.writer().remove('index-sets', item.id, identity.username));
      if (deleteIndices) await indexRequests.retireAll(item.id);
      return reply.code(204).send(null);
    },
  );
}

function addRotate(app: ApiServer, { itemOf, services }: IndexSetContext): void {
  app.post(
    '/api/system/deflector/:indexSetId/cycle',
    {
      config: { permission: 'index-sets:edit', audit: 'index_set:rotate' },
      schema: { summary: 'Begin the next index of a set now', tags, params, response: { 204: nothing } },
    },
    async ({ params: { indexSetId } }, reply) => {
      const { id } = await itemOf(indexSetId);
      const rotation = await operationsOf(services).indexRequests.rotate(id);
      if (rotation === 'overtaken')
        throw failure('API_CHANGING', 'The index set is just being rotated by somebody else.');
      if (rotation === 'absent')
        throw failure(
          'API_CHANGING',
          'The index set has no index yet: no processor works by the rules that name it. Try again in a moment.',
          { headers: { 'retry-after': '1' } },
        );
      return reply.code(204).send(null);
    },
  );
}
