/** Receivers, which scripts know as inputs: list, read, create, change, start, stop, delete, while the program runs. */
import { Type } from 'typebox';
import { apiIdOf } from '../../../../core/object-ids.js';
import type { ReceiverDescription } from '../../../../schemas/receiver-kinds.js';
import type { ApiServer } from '../../contract.js';
import { inputAnswer, inputBodyOf, inputStateAnswer } from '../../objects/receivers/input-shape.js';
import { createInputStore, type InputStore } from '../../objects/receivers/input-store.js';
import { nothing, objectId } from '../../objects/shapes.js';
import type { ApiServices } from '../../services.js';

const tags = ['Receivers'];
const base = '/api/system/inputs';
const states = '/api/system/inputstates';
const params = Type.Object({ inputId: objectId('Receiver.') });
const created = Type.Object({
  id: Type.String(),
  name: Type.String(),
  note: Type.Optional(Type.String({ description: 'What was not done, and why.' })),
});
const thereNote = 'A receiver of the settings file listens there already; its settings stay as they are.';

export function receiverRoutes(app: ApiServer, services: ApiServices): void {
  const store = createInputStore(services);
  addReading(app, store, services.receiverKinds);
  addChanging(app, store, services.receiverKinds);
  addStates(app, store);
}

function addReading(app: ApiServer, store: InputStore, kinds: readonly ReceiverDescription[]): void {
  app.get(
    base,
    {
      config: { permission: 'system:read' },
      schema: {
        summary: 'Receivers, of the settings file and of the API',
        tags,
        response: { 200: Type.Object({ total: Type.Integer(), inputs: Type.Array(inputAnswer) }) },
      },
    },
    async () => {
      const inputs = store.list();
      return { total: inputs.length, inputs };
    },
  );

  app.get(
    `${base}/types`,
    {
      config: { permission: 'system:read' },
      schema: {
        summary: 'Kinds of receivers',
        tags,
        response: { 200: Type.Object({ types: Type.Record(Type.String(), Type.String()) }) },
      },
    },
    async () => ({ types: Object.fromEntries(kinds.map(({ type, title }) => [type, title])) }),
  );

  app.get(
    `${base}/:inputId`,
    {
      config: { permission: 'system:read' },
      schema: { summary: 'One receiver', tags, params, response: { 200: inputAnswer } },
    },
    async ({ params: { inputId } }) => store.read(inputId),
  );
}

function addChanging(app: ApiServer, store: InputStore, kinds: readonly ReceiverDescription[]): void {
  const inputBody = inputBodyOf(kinds);
  app.post(
    base,
    {
      config: { permission: 'receivers:edit', audit: 'input:create' },
      schema: {
        summary: 'Create and start a receiver; its state says whether it could',
        tags,
        body: inputBody,
        response: { 201: created },
      },
    },
    async (request, reply) => {
      const id = await store.create(request.body, request.identity.username);
      request.audited = { object: id };
      return reply
        .code(201)
        .header('location', `${base}/${apiIdOf(id)}`)
        .send({ id: apiIdOf(id), name: id, ...(store.read(id).origin === 'file' ? { note: thereNote } : {}) });
    },
  );

  app.put(
    `${base}/:inputId`,
    {
      config: { permission: 'receivers:edit', audit: 'input:update' },
      schema: {
        summary: 'Change what is given of a receiver; it listens anew',
        tags,
        params,
        body: inputBody,
        response: { 201: created },
      },
    },
    async ({ params: { inputId }, body, identity }, reply) => {
      const id = await store.change(inputId, body, identity.username);
      return reply.code(201).send({ id: apiIdOf(id), name: id });
    },
  );

  app.delete(
    `${base}/:inputId`,
    {
      config: { permission: 'receivers:edit', audit: 'input:delete' },
      schema: { summary: 'Stop and delete a receiver', tags, params, response: { 204: nothing } },
    },
    async ({ params: { inputId }, identity }, reply) => {
      await store.remove(inputId, identity.username);
      return reply.code(204).send(null);
    },
  );
}

function addStates(app: ApiServer, store: InputStore): void {
  app.get(
    states,
    {
      config: { permission: 'system:read' },
      schema: {
        summary: 'What the receivers of this process do',
        tags,
        response: { 200: Type.Object({ states: Type.Array(inputStateAnswer) }) },
      },
    },
    async () => ({ states: store.list().map(store.stateOf) }),
  );

  app.get(
    `${states}/:inputId`,
    {
      config: { permission: 'system:read' },
      schema: { summary: 'What a receiver of this process does', tags, params, response: { 200: inputStateAnswer } },
    },
    async ({ params: { inputId } }) => store.stateOf(store.read(inputId)),
  );

  app.put(
    `${states}/:inputId`,
    {
      config: { permission: 'receivers:edit', audit: 'input:start' },
      schema: { summary: 'Start a receiver', tags, params, response: { 200: inputStateAnswer } },
    },
    ({ params: { inputId }, identity }) => store.setEnabled(inputId, true, identity.username),
  );

  app.delete(
    `${states}/:inputId`,
    {
      config: { permission: 'receivers:edit', audit: 'input:stop' },
      schema: { summary: 'Stop a receiver', tags, params, response: { 200: inputStateAnswer } },
    },
    ({ params: { inputId }, identity }) => store.setEnabled(inputId, false, identity.username),
  );
}
