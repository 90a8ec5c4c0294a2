/** Values of a field that begin with what somebody has typed, of messages that may be read. */
import { Type, type TSchema } from 'typebox';
import { queryText, timeRangeBody } from '../../../../schemas/api-search.js';
import type { ApiServer } from '../../contract.js';
import { nullable } from '../../objects/shapes.js';
import { whenLeaving } from '../../search/leaving.js';
import { resolveRange } from '../../search/times/time-ranges.js';
import type { ApiServices } from '../../services.js';
import { readableStreams, streamHex } from '../../stream-ids.js';

/**
 * Looked through for those that begin so: the store compares texts only, and a list has members that begin otherwise.
 */
const examined = 1_000;
const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(nullable(schema));

const body = Type.Object({
  field: Type.String({ minLength: 1, maxLength: 256 }),
  input: optional(Type.String({ maxLength: 1_000, description: 'How the values begin; empty: any.' })),
  query: optional(queryText({ description: 'Only of messages that match.' })),
  timerange: optional(timeRangeBody),
  streams: optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 1_000 })),
  size: optional(Type.Integer({ minimum: 1, maximum: 100, default: 10 })),
});
const answer = Type.Object({
  field: Type.String(),
  input: Type.String(),
  suggestions: Type.Array(
    Type.Object({
      value: Type.Unknown(),
      occurrence: Type.Integer({ description: 'Messages with this value.' }),
      title: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
  sum_other_docs_count: Type.Integer({ description: 'Of values that are not shown.' }),
  error: Type.Null(),
});

export function suggestRoutes(app: ApiServer, services: ApiServices): void {
  app.post(
    '/api/search/suggest',
    {
      config: { permission: 'authenticated', checks: 'shows what may be read', audit: 'search:suggest' },
      schema: {
        summary: 'Values of a field that begin so',
        description: 'The most frequent first. Without a time range: of the last five minutes.',
        tags: ['Search'],
        body,
        response: { 200: answer },
      },
    },
    async (request, reply) => {
      const {
        identity,
        body: { field, timerange, streams },
      } = request;
      const [input, query, size] = [request.body.input ?? '', request.body.query ?? '', request.body.size ?? 10];
      request.audited = { object: field, details: { input, query, streams: streams ?? undefined } };
      const options = { scope: identity.scope, signal: whenLeaving(reply), fairnessKey: identity.username };
      const type = (await services.searcher.fields(identity.scope)).get(field);
      const beginning =
        input !== '' && type === 'string' && field !== 'streams'
          ? services.language.print({ kind: 'wildcard', field, pattern: `${input}*` })
          : '';
      const texts = [query, beginning].filter((text) => text.trim() !== '' && text.trim() !== '*');
      const found = await services.searcher.aggregate(
        {
          query: texts.length > 1 ? texts.map((text) => `(${text})`).join(' AND ') : (texts[0] ?? ''),
          ...resolveRange(timerange, Date.now()),
          streams: readableStreams(services, identity, streams),
          aggregate: { groups: [{ kind: 'values', field, limit: examined }], metrics: [] },
        },
        options,
      );
      const known = found.buckets.map(({ key: [value = ''], documents }) => ({
        value: field === 'streams' ? streamHex(String(value)) : value,
        occurrence: documents,
        title: field === 'streams' ? titleOf(services, String(value)) : null,
      }));
      const start = field === 'source' ? input.toLowerCase() : input;
      const fitting = known.filter(({ value }) => String(value).startsWith(start));
      const others = fitting.slice(size).reduce((sum, { occurrence }) => sum + occurrence, 0);
      return {
        field,
        input,
        suggestions: fitting.slice(0, size),
        sum_other_docs_count: others + found.otherDocuments,
        error: null,
      };
    },
  );
}

function titleOf({ rules }: ApiServices, id: string): string {
  return rules()?.streams.find((stream) => stream.id === id)?.title ?? id;
}
