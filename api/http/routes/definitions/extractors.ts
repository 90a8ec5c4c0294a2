/**
 * Extractors of inputs: list, read, create, change, order, delete. Each comes to a rule for the messages of its
 * receiver.
 */
import { randomBytes } from 'node:crypto';
import { Type } from 'typebox';
import { findId } from '../../../../core/object-ids.js';
import type { ApiServer } from '../../contract.js';
import { found, storing } from '../../objects/changing.js';
import {
  extractorAnswer,
  extractorBody,
  storedExtractor,
  showExtractor,
  takeExtractor,
  type ExtractorBody,
} from '../../objects/rules/extractor-shape.js';
import { knownReceivers } from '../../objects/receivers/known-receivers.js';
import { nothing, objectId } from '../../objects/shapes.js';
import type { ApiServices } from '../../services.js';

const tags = ['Extractors'];
const base = '/api/system/inputs/:inputId/extractors';
const inputParams = Type.Object({ inputId: objectId('Receiver.') });
const params = Type.Object({
  inputId: objectId('Receiver.'),
  extractorId: Type.String({ maxLength: 200, description: 'Extractor, 24 hexadecimal characters.' }),
});
const created = Type.Object({ extractor_id: Type.String() });
const orderBody = Type.Object({
  order: Type.Record(Type.String(), Type.String({ maxLength: 200 }), {
    description: 'Ids of extractors by their new places.',
  }),
});
const kind = 'extractors';
type ExtractorPorts = Pick<ApiServices, 'config' | 'definitions' | 'graylog'>;

export function extractorRoutes(app: ApiServer, services: ExtractorPorts): void {
  const extractors = createExtractorContext(services);
  addList(app, extractors);
  addRead(app, extractors);
  addCreate(app, extractors);
  addChange(app, extractors);
  addDelete(app, extractors);
  addOrder(app, extractors);
}

type ExtractorContext = ReturnType<typeof createExtractorContext>;

/** What the routes share. */
function createExtractorContext(services: ExtractorPorts) {
  const store = createStore(services);
  return { store, services };
}

function addList(app: ApiServer, { store }: ExtractorContext): void {
  app.get(
    base,
    {
      config: { permission: 'system:read' },
      schema: {
        summary: 'Extractors of a receiver, in the order they run',
        tags,
        params: inputParams,
        response: { 200: Type.Object({ total: Type.Integer(), extractors: Type.Array(extractorAnswer) }) },
      },
    },
    async ({ params: { inputId } }) => {
      const extractors = store.list(inputId).map(store.show);
      return { total: extractors.length, extractors };
    },
  );
}

function addRead(app: ApiServer, { store }: ExtractorContext): void {
  app.get(
    `${base}/:extractorId`,
    {
      config: { permission: 'system:read' },
      schema: { summary: 'One extractor', tags, params, response: { 200: extractorAnswer } },
    },
    async ({ params: { inputId, extractorId } }) => store.show(store.read(inputId, extractorId)),
  );
}

function addCreate(app: ApiServer, { store, services }: ExtractorContext): void {
  app.post(
    base,
    {
      config: { permission: 'receivers:edit', audit: 'extractor:create' },
      schema: {
        summary: 'Create an extractor',
        tags,
        params: inputParams,
        body: extractorBody,
        response: { 201: created },
      },
    },
    async (request, reply) => {
      const id = randomBytes(12).toString('hex');
      const { inputId } = request.params;
      const definition = await store.take(inputId, request.body, id);
      await storing(() => services.definitions.writer().create(kind, id, { definition }, request.identity.username));
      request.audited = { object: `inputId=${inputId} ${id}` };
      return reply.code(201).send({ extractor_id: id });
    },
  );
}

function addChange(app: ApiServer, { store, services }: ExtractorContext): void {
  app.put(
    `${base}/:extractorId`,
    {
      config: { permission: 'receivers:edit', audit: 'extractor:update' },
      schema: { summary: 'Change an extractor', tags, params, body: extractorBody, response: { 200: extractorAnswer } },
    },
    async ({ params: { inputId, extractorId }, body, identity }) => {
      const { id, definition: before } = store.read(inputId, extractorId);
      const definition = await store.take(inputId, { ...body, order: body.order ?? Number(before['order'] ?? 0) }, id);
      await storing(() => services.definitions.writer().change(kind, id, () => ({ definition }), identity.username));
      return store.show(store.read(inputId, id));
    },
  );
}

function addDelete(app: ApiServer, { store, services }: ExtractorContext): void {
  app.delete(
    `${base}/:extractorId`,
    {
      config: { permission: 'receivers:edit', audit: 'extractor:delete' },
      schema: { summary: 'Delete an extractor', tags, params, response: { 204: nothing } },
    },
    async ({ params: { inputId, extractorId }, identity }, reply) => {
      const { id } = store.read(inputId, extractorId);
      await storing(() => services.definitions.writer().remove(kind, id, identity.username));
      return reply.code(204).send(null);
    },
  );
}

function addOrder(app: ApiServer, { store, services }: ExtractorContext): void {
  app.post(
    `${base}/order`,
    {
      config: { permission: 'receivers:edit', audit: 'extractor:order' },
      schema: {
        summary: 'Say in which order extractors run',
        tags,
        params: inputParams,
        body: orderBody,
        response: { 204: nothing },
      },
    },
    async ({ params: { inputId }, body: { order }, identity }, reply) => {
      const places = Object.entries(order).map(([place, id]) => ({
        place: Number(place),
        id: store.read(inputId, id).id,
      }));
      for (const { place, id } of places)
        await storing(() =>
          services.definitions
            .writer()
            .change(
              kind,
              id,
              (before) => ({ definition: { ...before?.definition, order: Number.isInteger(place) ? place : 0 } }),
              identity.username,
            ),
        );
      return reply.code(204).send(null);
    },
  );
}

function createStore(services: ExtractorPorts) {
  const {
    definitions,
    graylog: { extractors },
  } = services;
  const inputOf = (name: string): string => {
    const ids = knownReceivers(services).map(({ id }) => id);
    return found('receiver', findId(ids, name));
  };
  const list = (input: string) => {
    const id = inputOf(input);
    return extractors.list(definitions.stored()).filter(({ definition }) => definition['input'] === id);
  };
  return {
    list,
    read: (input: string, id: string) =>
      found(
        'extractor',
        list(input).find((extractor) => extractor.id === id),
      ),
    show: (extractor: ReturnType<typeof list>[number]) =>
      showExtractor(extractor, !definitions.leftOut(kind).some(({ id }) => id === extractor.id)),
    async take(input: string, body: ExtractorBody, id: string) {
      const settings = takeExtractor(inputOf(input), body);
      const rule = await storing(() => extractors.translate(settings));
      return { ...storedExtractor(settings), id, title: body.title, order: body.order ?? 0, ...rule };
    },
  };
}
