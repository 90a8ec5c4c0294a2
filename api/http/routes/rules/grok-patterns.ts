/** Named patterns for the grok of pipeline rules and extractors: list, read, create, change, import, try, delete. */
import { Type } from 'typebox';
import { apiIdOf } from '../../../../core/object-ids.js';
import { tryGrok } from '../../../../definitions/graylog/dry-run-grok.js';
import {
  grokProblem,
  grokTable,
  isBroken,
  maxPatterns,
  type GrokTable,
} from '../../../../definitions/graylog/grok-patterns.js';
import { sectionId } from '../../../../definitions/stored.js';
import { takingTexts } from '../../bodies.js';
import type { FastifyRequest } from 'fastify';
import { membersOf, someOf, type Audited } from '../../audited.js';
import type { ApiServer } from '../../contract.js';
import { failure, invalidMembers } from '../../failure.js';
import { found, storing } from '../../objects/changing.js';
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

export function grokPatternRoutes(app: ApiServer, services: ApiServices): void {
  addReading(app, services);
  addChanging(app, services);
  addImport(app, services);
}

type World = ApiServices['sluice']['world'];

const show = (name: string, table: GrokTable) => ({
  id: apiIdOf(name),
  name,
  pattern: table[name] ?? '',
  content_pack: null,
  problem: grokProblem(name, table) ?? null,
});
const nameOf = (world: World, key: string): string =>
  found(
    'pattern',
    Object.keys(grokTable(world.kept())).find((name) => name === key || apiIdOf(name) === key),
  );

/** All of them are one object: a change is checked with everything that uses them. */
export const saveGrokPatterns = (world: World, change: (before: GrokTable) => GrokTable, by: string) =>
  storing(() =>
    world.objects().change(
      'grok-patterns',
      sectionId,
      (before) => ({
        definition: { patterns: change((before?.definition['patterns'] as GrokTable | undefined) ?? {}) },
      }),
      by,
    ),
  );

function assertReadable(name: string, pattern: string): void {
  if (!/^[A-Za-z0-9_.-]+$/.test(name)) throw invalidMembers({ name: ['Letters, digits, _, . and - only.'] });
  if (isBroken(pattern)) throw invalidMembers({ pattern: [`This is no regular expression: ${pattern.slice(0, 100)}`] });
}

function addReading(app: ApiServer, { sluice: { world } }: ApiServices): void {
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
    async () => {
      const table = grokTable(world.kept());
      return {
        patterns: Object.keys(table)
          .sort()
          .map((name) => show(name, table)),
      };
    },
  );

  app.get(
    `${base}/:patternId`,
    {
      config: { permission: 'system:read' },
      schema: { summary: 'One pattern', tags, params, response: { 200: patternAnswer } },
    },
    async ({ params: { patternId } }) => show(nameOf(world, patternId), grokTable(world.kept())),
  );

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
      return storing(() => tryGrok(pattern, body.sampleData ?? body.sample_data ?? '', grokTable(world.kept())));
    },
  );
}

function addChanging(app: ApiServer, { sluice: { world } }: ApiServices): void {
  takingTexts(app, (scope) => addCreating(scope, world));

  app.put(
    `${base}/:patternId`,
    {
      config: { permission: 'rules:edit', audit: 'grok_pattern:update' },
      schema: { summary: 'Change a pattern', tags, params, body: patternBody, response: { 200: patternAnswer } },
    },
    async ({ params: { patternId }, body: { name, pattern }, identity }) => {
      const known = nameOf(world, patternId);
      assertReadable(name, pattern);
      await saveGrokPatterns(
        world,
        (before) => {
          if (name !== known && Object.hasOwn(before, name))
            throw failure('API_EXISTS', `There is a pattern ${name} already.`);
          return { ...without(before, known), [name]: pattern };
        },
        identity.username,
      );
      return show(name, grokTable(world.kept()));
    },
  );

  app.delete(
    `${base}/:patternId`,
    {
      config: { permission: 'rules:edit', audit: 'grok_pattern:delete' },
      schema: { summary: 'Delete a pattern that nothing uses', tags, params, response: { 204: nothing } },
    },
    async ({ params: { patternId }, identity }, reply) => {
      const name = nameOf(world, patternId);
      await saveGrokPatterns(world, (before) => without(before, name), identity.username);
      return reply.code(204).send(null);
    },
  );
}

const without = (table: GrokTable, name: string): GrokTable =>
  Object.fromEntries(Object.entries(table).filter(([other]) => other !== name));

interface Import {
  readonly patterns: readonly { readonly name: string; readonly pattern: string }[];
  readonly strategy: string;
}

async function take(world: World, { patterns, strategy }: Import, by: string): Promise<void> {
  for (const { name, pattern } of patterns) assertReadable(name, pattern);
  await saveGrokPatterns(
    world,
    (before) => {
      const taken = patterns.find(({ name }) => Object.hasOwn(before, name));
      if (strategy === 'ABORT_ON_CONFLICT' && taken !== undefined)
        throw failure('API_EXISTS', `There is a pattern ${taken.name} already; nothing was changed.`);
      const after = {
        ...(strategy === 'DROP_ALL_EXISTING' ? {} : before),
        ...Object.fromEntries(patterns.map(({ name, pattern }) => [name, pattern])),
      };
      if (Object.keys(after).length > maxPatterns)
        throw failure('API_LIMIT_REACHED', `At most ${maxPatterns} patterns are kept.`);
      return after;
    },
    by,
  );
}

/** Text is a list of them. */
function addCreating(app: ApiServer, world: World): void {
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
        await take(world, { patterns: linesOf(body), strategy: query['import-strategy'] }, identity.username);
        return reply.code(202).send(null);
      }
      await take(world, { patterns: [body], strategy: 'ABORT_ON_CONFLICT' }, identity.username);
      return reply
        .code(201)
        .header('location', `${base}/${apiIdOf(body.name)}`)
        .send(show(body.name, grokTable(world.kept())));
    },
  );
}

function addImport(app: ApiServer, { sluice: { world } }: ApiServices): void {
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
      await take(world, { patterns, strategy: query['import-strategy'] }, identity.username);
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

function linesOf(text: string): readonly { readonly name: string; readonly pattern: string }[] {
  return textLines(text).map((line) => {
    const [, name, pattern] = /^(\S+)\s+(.+)$/.exec(line) ?? [];
    if (name === undefined || pattern === undefined)
      throw failure('API_REQUEST_REFUSED', `This line has no name and pattern: ${line.slice(0, 100)}`);
    return { name, pattern };
  });
}
