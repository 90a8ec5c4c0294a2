/** Outputs: list, read, create, change, start, pause, delete, what they do now; and their streams. */
import { Type } from 'typebox';
import { apiIdOf } from '../../../../core/object-ids.js';
import { has, type Identity } from '../../../../schemas/access.js';
import type { ApiServer } from '../../contract.js';
import { failure } from '../../failure.js';
import { assertChangeable } from '../../objects/changing.js';
import { outputAnswer, outputBody, outputState, outputTypes } from '../../objects/outputs/output-shape.js';
import { createOutputStore, type OutputStore } from '../../objects/outputs/output-store.js';
import { nothing, objectId } from '../../objects/shapes.js';
import type { ApiServices } from '../../services.js';

const tags = ['Outputs'];
const base = '/api/system/outputs';
const params = Type.Object({ outputId: objectId('Output.') });
const streamParams = Type.Object({ streamId: objectId('Stream.') });
const bothParams = Type.Object({ streamId: objectId('Stream.'), outputId: objectId('Output.') });
const list = Type.Object({ total: Type.Integer(), outputs: Type.Array(outputAnswer) });
const types = Type.Object({
  types: Type.Record(
    Type.String(),
    Type.Object({ name: Type.String(), human_name: Type.String(), transports: Type.Array(Type.String()) }),
  ),
});

export function outputRoutes(app: ApiServer, services: ApiServices): void {
  const store = createOutputStore(services);
  addReading(app, store);
  addChanging(app, store);
  addOfStreams(app, store);
}

function addReading(app: ApiServer, store: OutputStore): void {
  app.get(
    base,
    { config: { permission: 'system:read' }, schema: { summary: 'Outputs', tags, response: { 200: list } } },
    async ({ identity }) => {
      const outputs = await Promise.all((await store.ids()).map((id) => store.read(id, identity)));
      return { total: outputs.length, outputs };
    },
  );

  app.get(
    `${base}/available`,
    {
      config: { permission: 'system:read' },
      schema: { summary: 'Formats that an output can have', tags, response: { 200: types } },
    },
    async () => ({ types: outputTypes }),
  );

  app.get(
    `${base}/:outputId`,
    {
      config: { permission: 'system:read', checks: 'figures: reading of all its streams, or `outputs:edit`' },
      schema: { summary: 'One output', tags, params, response: { 200: outputAnswer } },
    },
    async ({ params: { outputId }, identity }) => store.read((await store.item(outputId)).id, identity),
  );

  app.get(
    `${base}/:outputId/state`,
    {
      config: { permission: 'system:read', checks: 'figures: reading of all its streams, or `outputs:edit`' },
      schema: {
        summary: 'What an output does now: connection, lag, last error',
        tags,
        params,
        response: { 200: outputState },
      },
    },
    async ({ params: { outputId }, identity }) => {
      const state = await store.state(outputId, identity);
      if (state === null)
        throw failure(
          'API_NOT_FOUND',
          'This process does not work on the output; another process has the role output.',
        );
      return state;
    },
  );
}

function addChanging(app: ApiServer, store: OutputStore): void {
  app.post(
    base,
    {
      config: { permission: 'outputs:edit', checks: 'editing of the streams', audit: 'output:create' },
      schema: { summary: 'Create an output', tags, body: outputBody, response: { 201: outputAnswer } },
    },
    async (request, reply) => {
      const id = await store.create(request.body, request.identity);
      request.audited = { object: id };
      return reply
        .code(201)
        .header('location', `${base}/${apiIdOf(id)}`)
        .send(await store.read(id, request.identity));
    },
  );

  app.put(
    `${base}/:outputId`,
    {
      config: { permission: 'outputs:edit', checks: 'editing of all its streams', audit: 'output:update' },
      schema: {
        summary: 'Change what is given of an output; secrets that are not given stay',
        tags,
        params,
        body: outputBody,
        response: { 200: outputAnswer },
      },
    },
    async ({ params: { outputId }, body, identity }) => {
      const item = await store.item(outputId);
      assertChangeable('output', item);
      await store.change(item.id, body, identity);
      return store.read(item.id, identity);
    },
  );

  app.delete(
    `${base}/:outputId`,
    {
      config: { permission: 'outputs:edit', audit: 'output:delete' },
      schema: { summary: 'Delete an output; what waits for it is not sent', tags, params, response: { 204: nothing } },
    },
    async ({ params: { outputId }, identity }, reply) => {
      await store.remove(outputId, identity.username);
      return reply.code(204).send(null);
    },
  );

  for (const [verb, enabled] of [
    ['resume', true],
    ['pause', false],
  ] as const) {
    app.post(
      `${base}/:outputId/${verb}`,
      {
        config: { permission: 'outputs:edit', audit: `output:${verb}` },
        schema: {
          summary: enabled ? 'Start an output' : 'Pause an output: it takes and sends nothing',
          tags,
          params,
          response: { 204: nothing },
        },
      },
      async ({ params: { outputId }, identity }, reply) => {
        await store.setEnabled(outputId, enabled, identity.username);
        return reply.code(204).send(null);
      },
    );
  }
}

function addOfStreams(app: ApiServer, store: OutputStore): void {
  const path = '/api/streams/:streamId/outputs';

  app.get(
    path,
    {
      config: { permission: 'stream:read' },
      schema: { summary: 'Outputs of a stream', tags, params: streamParams, response: { 200: list } },
    },
    async ({ streamId, identity }) => {
      const ids = await store.ofStream(streamId);
      return { total: ids.length, outputs: await Promise.all(ids.map((id) => store.read(id, identity))) };
    },
  );

  app.post(
    path,
    {
      config: { permission: 'stream:edit', checks: '`outputs:edit`', audit: 'stream:attach_outputs' },
      schema: {
        summary: 'Send the messages of a stream to outputs too',
        tags,
        params: streamParams,
        body: Type.Object({ outputs: Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 }) }),
        response: { 202: nothing },
      },
    },
    async (request, reply) => {
      const {
        streamId,
        identity,
        body: { outputs },
      } = request;
      assertMayAttach(identity);
      for (const name of outputs) await store.item(name);
      for (const name of outputs) await store.attach(streamId, name, true, identity.username);
      request.audited = { object: streamId, details: { outputs } };
      return reply.code(202).send(null);
    },
  );

  app.delete(
    `${path}/:outputId`,
    {
      config: { permission: 'stream:edit', checks: '`outputs:edit`', audit: 'stream:detach_output' },
      schema: {
        summary: 'Send the messages of a stream to an output no more',
        tags,
        params: bothParams,
        response: { 204: nothing },
      },
    },
    async ({ streamId, params: { outputId }, identity }, reply) => {
      assertMayAttach(identity);
      const { id } = await store.item(outputId);
      if (!(await store.ofStream(streamId)).includes(id))
        throw failure('API_NOT_FOUND', 'The stream has no such output.');
      await store.attach(streamId, id, false, identity.username);
      return reply.code(204).send(null);
    },
  );
}

function assertMayAttach(identity: Identity): void {
  if (!has(identity, 'outputs:edit')) throw failure('API_FORBIDDEN', 'Not allowed: this needs outputs:edit.');
}
