/**
 * Obfuscation: read and change what is replaced in sensitive messages, and try it on a text. Under the names of rule
 * files.
 */
import { Type } from 'typebox';
import type { ApiServer } from '../../contract.js';
import { invalidMembers } from '../../failure.js';
import { auditedAttempt, auditedChange, obfuscationSection } from '../../objects/obfuscation/obfuscation-section.js';
import { nothing } from '../../objects/shapes.js';
import type { ApiServices } from '../../services.js';

const tags = ['Obfuscation'];
const base = '/api/system/obfuscation';
const pattern = {
  id: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]*$', maxLength: 100 }),
  title: Type.Optional(Type.String({ maxLength: 200 })),
  pattern: Type.Optional(Type.String({ minLength: 1, maxLength: 5_000, description: 'RE2 syntax.' })),
  enabled: Type.Optional(Type.Boolean()),
};
const fields = {
  enabled: Type.Optional(Type.Boolean()),
  fields: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 100 })),
  streams: Type.Optional(
    Type.Array(Type.String({ maxLength: 200 }), { maxItems: 1_000, description: 'Ids or titles of streams.' }),
  ),
  replacement: Type.Optional(Type.String({ maxLength: 200 })),
  patterns: Type.Optional(
    Type.Array(Type.Object({ ...pattern, importance: Type.Optional(Type.Number()) }), {
      maxItems: 500,
      description: 'By id; those that are not named stay. One is switched off with enabled: false.',
    }),
  ),
  white_patterns: Type.Optional(Type.Array(Type.Object(pattern), { maxItems: 500 })),
};
const shape = Type.Object(fields, { description: 'What is replaced, where, by what.' });
const tryBody = Type.Object({
  text: Type.String({ maxLength: 1_000_000 }),
  patterns: fields.patterns,
  white_patterns: fields.white_patterns,
  replacement: fields.replacement,
});
const tryAnswer = Type.Object({
  text: Type.String(),
  found: Type.Array(
    Type.Object({ start: Type.Integer(), end: Type.Integer(), text: Type.String(), pattern: Type.String() }),
  ),
});

export function obfuscationRoutes(app: ApiServer, services: Pick<ApiServices, 'definitions' | 'dryRuns'>): void {
  const obfuscation = createObfuscationContext(services);
  addRead(app, obfuscation);
  addChange(app, obfuscation);
  addReset(app, obfuscation);
  addDryRun(app, obfuscation);
}

type ObfuscationContext = ReturnType<typeof createObfuscationContext>;

/** What the routes share. */
function createObfuscationContext(services: Pick<ApiServices, 'definitions' | 'dryRuns'>) {
  const { dryRuns } = services;
  const section = obfuscationSection(services);
  return { section, dryRuns };
}

function addRead(app: ApiServer, { section }: ObfuscationContext): void {
  app.get(
    base,
    {
      config: { permission: 'obfuscation:edit' },
      schema: { summary: 'What is obfuscated', tags, response: { 200: shape } },
    },
    section.read,
  );
}

function addChange(app: ApiServer, { section }: ObfuscationContext): void {
  app.put(
    base,
    {
      config: { permission: 'obfuscation:edit', audit: 'obfuscation:update', audited: auditedAttempt },
      schema: {
        summary: 'Change what is given of the obfuscation, at once and for good',
        tags,
        body: shape,
        response: { 200: shape },
      },
    },
    async (request) => {
      request.audited = await auditedChange(section, () => section.change(request.body, request.identity.username));
      return section.read();
    },
  );
}

function addReset(app: ApiServer, { section }: ObfuscationContext): void {
  app.delete(
    base,
    {
      config: { permission: 'obfuscation:edit', audit: 'obfuscation:reset', audited: auditedAttempt },
      schema: { summary: 'Back to what the files say', tags, response: { 204: nothing } },
    },
    async (request, reply) => {
      request.audited = await auditedChange(section, () => section.reset(request.identity.username));
      return reply.code(204).send(null);
    },
  );
}

function addDryRun(app: ApiServer, { section, dryRuns }: ObfuscationContext): void {
  app.post(
    `${base}/try`,
    {
      config: { permission: 'obfuscation:edit', reads: true },
      schema: {
        summary: 'What becomes of a text, with the patterns as they are or as they might be',
        tags,
        body: tryBody,
        response: { 200: tryAnswer },
      },
    },
    async ({ body: { text, ...rest } }) => {
      const settings = { ...(await section.read()), ...rest };
      for (const { id, pattern: source } of [...(rest.patterns ?? []), ...(rest.white_patterns ?? [])]) {
        const problem = source === undefined ? 'there is none' : dryRuns.patternProblem(source);
        if (problem !== undefined)
          throw invalidMembers({ [`patterns.${id}`]: [`The pattern cannot be compiled: ${problem}.`] });
      }
      const { text: replaced, found } = dryRuns.obfuscation(text, settings);
      return { text: replaced, found: [...found] };
    },
  );
}
