/** Streams: list, read, create, change, start, pause, clone, delete. */
import { Type } from 'typebox';
import { apiIdOf } from '../../../../core/object-ids.js';
import { mayEditStream, mayReadStream, type Identity } from '../../../../schemas/access.js';
import type { ApiServer } from '../../contract.js';
import { isFailure } from '../../failure.js';
import { assertRemovable } from '../../objects/changing.js';
import { nothing, objectId } from '../../objects/shapes.js';
import { streamAnswer, streamBody, streamFields } from '../../objects/streams/stream-shape.js';
import { createStreamStore, type StreamStore } from '../../objects/streams/stream-store.js';
import type { ApiServices } from '../../services.js';

const tags = ['Streams'];
const params = Type.Object({ streamId: objectId('Stream.') });
const created = Type.Object({ stream_id: Type.String(), name: Type.String() });
const list = Type.Object({ total: Type.Integer(), streams: Type.Array(streamAnswer) });
const page = Type.Object({
  page: Type.Integer({ minimum: 1, maximum: 100_000, default: 1 }),
  per_page: Type.Integer({ minimum: 1, maximum: 1_000, default: 50 }),
  query: Type.String({ maxLength: 200, default: '' }),
  sort: Type.Enum(['title', 'description', 'created_at'], { default: 'title' }),
  order: Type.Enum(['asc', 'desc'], { default: 'asc' }),
});
const pageAnswer = Type.Object({
  query: Type.String(),
  total: Type.Integer(),
  sort: Type.String(),
  order: Type.String(),
  pagination: Type.Object({
    total: Type.Integer(),
    count: Type.Integer(),
    page: Type.Integer(),
    per_page: Type.Integer(),
  }),
  elements: Type.Array(streamAnswer),
  streams: Type.Array(streamAnswer),
});
const cloneBody = Type.Object({
  title: Type.String({ minLength: 1, maxLength: 200 }),
  description: streamFields.description,
  remove_matches_from_default_stream: streamFields.remove_matches_from_default_stream,
  index_set_id: streamFields.index_set_id,
});
const bulkBody = Type.Object({ entity_ids: Type.Array(Type.String({ maxLength: 200 }), { maxItems: 1_000 }) });
const bulkAnswer = Type.Object({
  successfully_performed: Type.Integer(),
  failures: Type.Array(Type.Object({ entity_id: Type.String(), failure_explanation: Type.String() })),
  errors: Type.Array(Type.String()),
});

export function streamRoutes(app: ApiServer, services: ApiServices): void {
  const store = createStreamStore(services);
  addLists(app, store);
  addChanging(app, store);
  addCloning(app, store);
  addBulk(app, store);
}

function addLists(app: ApiServer, store: StreamStore): void {
  app.get(
    '/api/streams',
    {
      config: { permission: 'authenticated', checks: 'shows what may be read' },
      schema: { summary: 'Streams that may be read', tags, response: { 200: list } },
    },
    async ({ identity }) => {
      const streams = await store.list(identity);
      return { total: streams.length, streams };
    },
  );

  app.get(
    '/api/streams/enabled',
    {
      config: { permission: 'authenticated', checks: 'shows what may be read' },
      schema: { summary: 'Streams that are started', tags, response: { 200: list } },
    },
    async ({ identity }) => {
      const streams = (await store.list(identity)).filter(({ disabled }) => !disabled);
      return { total: streams.length, streams };
    },
  );

  app.get(
    '/api/streams/paginated',
    {
      config: { permission: 'authenticated', checks: 'shows what may be read' },
      schema: {
        summary: 'Streams that may be read, page by page',
        tags,
        querystring: page,
        response: { 200: pageAnswer },
      },
    },
    async ({ identity, query: { page: number, per_page: size, query, sort, order } }) => {
      const words = query.toLowerCase();
      const all = (await store.list(identity)).filter(({ title, description, name }) =>
        `${title}\n${description}\n${name}`.toLowerCase().includes(words),
      );
      const direction = order === 'asc' ? 1 : -1;
      all.sort((left, right) => direction * (left[sort] ?? '').localeCompare(right[sort] ?? ''));
      const elements = all.slice((number - 1) * size, number * size);
      return {
        query,
        total: all.length,
        sort,
        order,
        pagination: { total: all.length, count: elements.length, page: number, per_page: size },
        elements,
        streams: elements,
      };
    },
  );

  app.get(
    '/api/streams/:streamId',
    {
      config: { permission: 'stream:read' },
      schema: { summary: 'One stream', tags, params, response: { 200: streamAnswer } },
    },
    ({ streamId, identity }) => store.read(streamId, identity),
  );
}

function addChanging(app: ApiServer, store: StreamStore): void {
  app.post(
    '/api/streams',
    {
      config: { permission: 'streams:create', audit: 'stream:create' },
      schema: {
        summary: 'Create a stream; it is paused until it is started',
        tags,
        body: streamBody,
        response: { 201: created },
      },
    },
    async (request, reply) => {
      const id = await store.create(request.body, request.identity);
      request.audited = { object: id };
      return reply
        .code(201)
        .header('location', `/api/streams/${apiIdOf(id)}`)
        .send({ stream_id: apiIdOf(id), name: id });
    },
  );

  app.put(
    '/api/streams/:streamId',
    {
      config: { permission: 'stream:edit', audit: 'stream:update' },
      schema: {
        summary: 'Change what is given of a stream',
        tags,
        params,
        body: streamBody,
        response: { 200: streamAnswer },
      },
    },
    async ({ streamId, body, identity }) => {
      await store.update(streamId, body, identity.username);
      return store.read(streamId, identity);
    },
  );

  app.delete(
    '/api/streams/:streamId',
    {
      config: { permission: 'stream:edit', audit: 'stream:delete' },
      schema: {
        summary: 'Delete a stream; its messages stay in its index set',
        tags,
        params,
        response: { 204: nothing },
      },
    },
    async ({ streamId, identity }, reply) => {
      await removeChecked(store, streamId, identity.username);
      return reply.code(204).send(null);
    },
  );

  for (const [verb, enabled] of [
    ['resume', true],
    ['pause', false],
  ] as const) {
    app.post(
      `/api/streams/:streamId/${verb}`,
      {
        config: { permission: 'stream:edit', audit: `stream:${verb}` },
        schema: { summary: enabled ? 'Start a stream' : 'Pause a stream', tags, params, response: { 204: nothing } },
      },
      async ({ streamId, identity }, reply) => {
        const { settings } = await store.item(streamId);
        if ((settings['enabled'] !== false) !== enabled)
          await store.change(streamId, identity.username, () => ({ enabled }));
        return reply.code(204).send(null);
      },
    );
  }
}

const clonedSettings = [
  'description',
  'when',
  'rules',
  'matching_type',
  'index_set',
  'remove_matches_from_default_stream',
  'only_within_default_stream',
] as const;

function addCloning(app: ApiServer, store: StreamStore): void {
  app.post(
    '/api/streams/:streamId/clone',
    {
      config: { permission: 'streams:create', checks: 'reading of the stream', audit: 'stream:clone' },
      schema: {
        summary: 'Create a stream with the rules of another one',
        tags,
        params,
        body: cloneBody,
        response: { 201: created },
      },
    },
    async (request, reply) => {
      const { id: original, settings } = await readable(store, request.params.streamId, request.identity);
      const { title, description, ...rest } = request.body;
      const more = Object.fromEntries(
        clonedSettings.flatMap((key) => (settings[key] === undefined ? [] : [[key, settings[key]]])),
      );
      const id = await store.create(
        { title, ...rest, ...(description === undefined ? {} : { description }) },
        request.identity,
        more,
      );
      request.audited = { object: id, details: { from: original } };
      return reply
        .code(201)
        .header('location', `/api/streams/${apiIdOf(id)}`)
        .send({ stream_id: apiIdOf(id), name: id });
    },
  );
}

/** The permission of the route is about streams in general; the one that is cloned must be seen too. */
async function readable(store: StreamStore, name: string, identity: Identity) {
  const shown = (await store.list(identity)).find((stream) => stream.id === name || stream.name === name);
  return store.item(shown !== undefined && mayReadStream(identity.scope, shown.name) ? shown.name : '');
}

async function removeChecked(store: StreamStore, id: string, by: string): Promise<void> {
  assertRemovable('stream', await store.item(id));
  await store.remove(id, by);
}

const bulk: Readonly<Record<string, (store: StreamStore, id: string, by: string) => Promise<void>>> = {
  bulk_pause: (store, id, by) => store.change(id, by, () => ({ enabled: false })),
  bulk_resume: (store, id, by) => store.change(id, by, () => ({ enabled: true })),
  bulk_delete: removeChecked,
};

function addBulk(app: ApiServer, store: StreamStore): void {
  for (const [verb, act] of Object.entries(bulk)) {
    app.post(
      `/api/streams/${verb}`,
      {
        config: { permission: 'authenticated', checks: 'editing of each stream', audit: `stream:${verb}` },
        schema: {
          summary: 'Several streams at once; each is checked on its own',
          tags,
          body: bulkBody,
          response: { 200: bulkAnswer },
        },
      },
      async (request) => {
        const {
          identity,
          body: { entity_ids: names },
        } = request;
        const shown = await store.list(identity);
        const failures: { entity_id: string; failure_explanation: string }[] = [];
        for (const name of names) {
          const stream = shown.find(({ id, name: own }) => id === name || own === name);
          const refused =
            stream === undefined
              ? 'There is no such stream.'
              : mayEditStream(identity, stream.name)
                ? undefined
                : 'Not allowed: this needs editing of the stream.';
          const reason =
            refused ?? (await act(store, stream?.name ?? '', identity.username).then(() => undefined, reasonOf));
          if (reason !== undefined) failures.push({ entity_id: name, failure_explanation: reason });
        }
        request.audited = { object: names.join(' '), details: { failed: failures.length } };
        return { successfully_performed: names.length - failures.length, failures, errors: [] };
      },
    );
  }
}

/** Mistakes of the asker are told for each stream; anything else ends the request. */
function reasonOf(error: unknown): string {
  if (!isFailure(error)) throw error;
  return error.message;
}
