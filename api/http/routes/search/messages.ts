/** One message by its index and id, and the fields that messages have. */
import { Type } from 'typebox';
import type { ApiServer } from '../../contract.js';
import { failure } from '../../failure.js';
import { messageRow } from '../../search/message-lists.js';
import type { ApiServices } from '../../services.js';

const tags = ['Messages'];

export function messageRoutes(app: ApiServer, services: ApiServices): void {
  showMessage(app, services);
  listFieldNames(app, services);
  listFieldTypes(app, services);
}

function showMessage(app: ApiServer, { searcher }: ApiServices): void {
  app.get(
    '/api/messages/:index/:messageId',
    {
      config: { permission: 'authenticated', checks: 'shows what may be read', audit: 'search:message' },
      schema: {
        summary: 'One message',
        description: 'One that may not be read is not there.',
        tags,
        params: Type.Object({ index: Type.String({ maxLength: 255 }), messageId: Type.String({ maxLength: 512 }) }),
        response: {
          200: Type.Object({
            message: Type.Record(Type.String(), Type.Unknown()),
            index: Type.String(),
            highlight_ranges: Type.Object({}),
            decoration_stats: Type.Null(),
          }),
        },
      },
    },
    async ({ params: { index, messageId }, identity }) => {
      const hit = await searcher.message(index, messageId, identity.scope);
      if (hit === undefined) throw failure('API_NOT_FOUND', 'There is no such message.');
      return messageRow(hit);
    },
  );
}

function listFieldNames(app: ApiServer, { searcher }: ApiServices): void {
  app.get(
    '/api/system/fields',
    {
      config: { permission: 'authenticated', checks: 'shows what may be read' },
      schema: {
        summary: 'Names of fields',
        description: 'Of messages that may be read.',
        tags,
        querystring: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 0 })) }),
        response: { 200: Type.Object({ fields: Type.Array(Type.String()) }) },
      },
    },
    async ({ identity, query: { limit } }) => {
      const names = [...(await searcher.fields(identity.scope)).keys()].sort();
      return { fields: limit === undefined || limit === 0 ? names : names.slice(0, limit) };
    },
  );
}

function listFieldTypes(app: ApiServer, { searcher }: ApiServices): void {
  app.get(
    '/api/views/fields',
    {
      config: { permission: 'authenticated', checks: 'shows what may be read' },
      schema: {
        summary: 'Names and types of fields',
        tags,
        response: {
          200: Type.Array(
            Type.Object({
              name: Type.String(),
              type: Type.Object({
                type: Type.String(),
                properties: Type.Array(Type.String()),
                index_names: Type.Array(Type.String()),
              }),
            }),
          ),
        },
      },
    },
    async ({ identity }) =>
      [...(await searcher.fields(identity.scope))]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .map(([name, type]) => ({
          name,
          type: { type: typeNames[type], properties: properties[type], index_names: [] },
        })),
  );
}

const typeNames = { text: 'string', string: 'string', number: 'double', boolean: 'boolean', time: 'date' } as const;
const properties: Readonly<Record<keyof typeof typeNames, string[]>> = {
  text: ['full-text-search'],
  string: ['enumerable'],
  number: ['numeric', 'enumerable'],
  boolean: ['enumerable'],
  time: ['enumerable'],
};
