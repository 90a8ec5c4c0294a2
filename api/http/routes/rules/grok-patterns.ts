/**
 * Named patterns for the grok of pipeline rules and extractors: list, read, create, change, import, dry run, delete.
 */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { apiIdOf } from '../../../../core/object-ids.js';
import { membersOf, someOf, type Audited } from '../../audited.js';
import { takingTexts } from '../../bodies.js';
import type { ApiServer } from '../../contract.js';
import { failure, invalidMembers } from '../../failure.js';
import { createGrokStore, type GrokStore, type NamedPattern } from '../../objects/rules/grok-store.js';
import { nothing, nullable, objectId } from '../../objects/shapes.js';
import type { ApiServices } from '../../services.js';

const tags = ['Grok patterns'];
const base = '/api/system/grok';
const params = Type.Object({ patternId: objectId('Pattern.') });
const patternBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100 }),
    pattern: Type.String({ minLength: 1, maxLength: 10_000 }),
    id: Type.Optional(nullable(Type.String({ maxLength: 64 }))),
  },
  { description: 'A named pattern.' },
);
const patternAnswer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  pattern: Type.String({ description: 'As it was given.' }),
  content_pack: Type.Null(),
  problem: nullable(Type.String({ description: 'Why it is not used as it is.' })),
});
const importBody = Type.Object(
  { patterns: Type.Array(patternBody, { maxItems: 2_000 }) },
  { description: 'Patterns.' },
);
const importQuery = Type.Object({
  'import-strategy': Type.Enum(['ABORT_ON_CONFLICT', 'REPLACE_ON_CONFLICT', 'DROP_ALL_EXISTING'], {
    default: 'ABORT_ON_CONFLICT',
  }),
});
const testBody = Type.Object({
  grok_pattern: Type.Optional(
    Type.Object({
      name: Type.Optional(nullable(Type.String({ maxLength: 100 }))),
      pattern: Type.String({ minLength: 1, maxLength: 10_000 }),
    }),
  ),
  pattern: Type.Optional(Type.String({ minLength: 1, maxLength: 10_000 })),
  sampleData: Type.Optional(Type.String({ maxLength: 100_000 })),
  sample_data: Type.Optional(Type.String({ maxLength: 100_000 })),
});

export function grokPatternRoutes(app: ApiServer, ports: Pick<ApiServices, 'definitions' | 'graylog'>): void {
  const store = createGrokStore(ports);
  addReading(app, store);
  addDryRun(app, store);
  takingTexts(app, (scope) => addCreating(scope, store));
  addChanging(app, store);
  addImport(app, store);
}

function addReading(app: ApiServer, store: GrokStore): void {
  app.get(
    base,
    {
      config: { permission: 'system:read' },
      schema: {
        summary: 'Patterns that were made here; those that ship are in docs/reference/rules.md',
        tags,
        response: { 200: Type.Object({ patterns: Type.Array(patternAnswer) }) },
      },
    },
    async () => ({ patterns: store.list() }),
  );

  app.get(
    `${base}/:patternId`,
    {
      config: { permission: 'system:read' },
      schema: { summary: 'One pattern', tags, params, response: { 200: patternAnswer } },
    },
    async ({ params: { patternId } }) => store.read(patternId),
  );
}

function addDryRun(app: ApiServer, store: GrokStore): void {
  app.post(
    `${base}/test`,
    {
      config: { permission: 'rules:edit', reads: true },
      schema: {
        summary: 'Try a pattern on a text',
        tags,
        body: testBody,
        response: { 200: Type.Record(Type.String(), Type.Unknown()) },
      },
    },
    async ({ body }) => {
      const pattern = body.grok_pattern?.pattern ?? body.pattern;
      if (pattern === undefined) throw invalidMembers({ grok_pattern: ['A pattern is needed.'] });
      return store.dryRun(pattern, body.sampleData ?? body.sample_data ?? '');
    },
  );
}

/** Text is a list of them. */
function addCreating(app: ApiServer, store: GrokStore): void {
  app.post(
    base,
    {
      config: { permission: 'rules:edit', audit: 'grok_pattern:create', audited: auditedPatterns },
      schema: {
        summary:
          'Create a pattern; or, as plain text, take over many at once: a line for each, with the name, a space and the pattern',
        tags,
        consumes: ['application/json', 'text/plain'],
        querystring: importQuery,
        body: Type.Union([Type.String({ maxLength: 300_000 }), patternBody]),
        response: { 201: patternAnswer, 202: nothing },
      },
    },
    async (request, reply) => {
      const { body, query, identity } = request;
      if (typeof body === 'string') {
        await store.import({ patterns: linesOf(body), strategy: query['import-strategy'] }, identity.username);
        return reply.code(202).send(null);
      }
      await store.import({ patterns: [body], strategy: 'ABORT_ON_CONFLICT' }, identity.username);
      return reply
        .code(201)
        .header('location', `${base}/${apiIdOf(body.name)}`)
        .send(store.show(body.name));
    },
  );
}

function addChanging(app: ApiServer, store: GrokStore): void {
  app.put(
    `${base}/:patternId`,
    {
      config: { permission: 'rules:edit', audit: 'grok_pattern:update' },
      schema: { summary: 'Change a pattern', tags, params, body: patternBody, response: { 200: patternAnswer } },
    },
    async ({ params: { patternId }, body, identity }) => {
      await store.change(patternId, body, identity.username);
      return store.show(body.name);
    },
  );

  app.delete(
    `${base}/:patternId`,
    {
      config: { permission: 'rules:edit', audit: 'grok_pattern:delete' },
      schema: { summary: 'Delete a pattern that nothing uses', tags, params, response: { 204: nothing } },
    },
    async ({ params: { patternId }, identity }, reply) => {
      await store.remove(patternId, identity.username);
      return reply.code(204).send(null);
    },
  );
}

function addImport(app: ApiServer, store: GrokStore): void {
  app.put(
    base,
    {
      config: { permission: 'rules:edit', audit: 'grok_pattern:import', audited: auditedPatterns },
      schema: {
        summary: 'Take over many patterns at once',
        tags,
        querystring: importQuery,
        body: importBody,
        response: { 202: nothing },
      },
    },
    async ({ body: { patterns }, query, identity }, reply) => {
      await store.import({ patterns, strategy: query['import-strategy'] }, identity.username);
      return reply.code(202).send(null);
    },
  );
}

/** Names only, as far as they can be read. */
function auditedPatterns({ body, query }: FastifyRequest): Audited {
  const { name, patterns } = membersOf(body);
  const names =
    typeof body === 'string'
      ? textLines(body).map((line) => line.split(/\s/, 1)[0])
      : Array.isArray(patterns)
        ? patterns.map((pattern) => membersOf(pattern)['name'])
        : [name];
  const texts = names.filter((one) => typeof one === 'string');
  return {
    object: texts.join(' '),
    details:
      typeof body === 'string' || Array.isArray(patterns)
        ? { patterns: texts.length, ...someOf(query, ['import-strategy']) }
        : {},
  };
}

const textLines = (text: string): readonly string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));

function linesOf(text: string): readonly NamedPattern[] {
  return textLines(text).map((line) => {
    const [, name, pattern] = /^(\S+)\s+(.+)$/.exec(line) ?? [];
    if (name === undefined || pattern === undefined)
      throw failure('API_REQUEST_REFUSED', `This line has no name and pattern: ${line.slice(0, 100)}`);
    return { name, pattern };
  });
}
