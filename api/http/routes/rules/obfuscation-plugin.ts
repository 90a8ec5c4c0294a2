/** The obfuscation under the paths and in the words of Graylog's plugin. */
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { takingForms, takingTexts } from '../../bodies.js';
import type { ApiServer } from '../../contract.js';
import { failure } from '../../failure.js';
import {
  auditedAttempt,
  auditedChange,
  obfuscationSection,
  syncModeOf,
} from '../../objects/obfuscation/obfuscation-section.js';
import { pluginBody, showPlugin, starReplacer, takePlugin } from '../../objects/obfuscation/obfuscation-plugin.js';
import type { ApiServices } from '../../services.js';

const tags = ['Obfuscation'];
const params = Type.Object({ plugin: Type.String({ maxLength: 100, description: 'Any name.' }) });
const base = '/api/plugins/:plugin/obfuscation';
const text = Type.String({ maxLength: 1_000_000 });
const patternText = Type.String({ maxLength: 5_000, description: 'RE2 syntax.' });
const testedPattern = Type.Union([
  patternText,
  Type.Object({
    id: Type.Optional(Type.Union([Type.Integer(), Type.String({ maxLength: 100 })])),
    name: Type.Optional(Type.String({ maxLength: 200 })),
    pattern: patternText,
    importance: Type.Optional(Type.Number()),
  }),
]);
const testedPatterns = Type.Array(testedPattern, {
  maxItems: 500,
  description: 'Patterns, or entries with a pattern.',
});
const found = Type.Object({
  start: Type.Integer(),
  end: Type.Integer(),
  sensitiveText: Type.String(),
  finder: Type.String(),
});

const succeeds = { permission: 'obfuscation:edit', produces: ['text/plain', 'application/json'] } as const;
const success = (reply: FastifyReply): FastifyReply =>
  reply.type('text/plain; charset=utf-8').serializer(String).send('Success');

export function obfuscationPluginRoutes(app: ApiServer, services: Pick<ApiServices, 'definitions' | 'dryRuns'>): void {
  const plugin = createPluginContext(services);
  addRead(app, plugin);
  addChange(app, plugin);
  addSync(app, plugin);
  addReset(app, plugin);
  addRestore(app, plugin);
  addReplacers(app);
  addPatternCheck(app, plugin);
  addDryRun(app, plugin);
}

type PluginContext = ReturnType<typeof createPluginContext>;

/** What the routes share. */
function createPluginContext(services: Pick<ApiServices, 'definitions' | 'dryRuns'>) {
  const { dryRuns } = services;
  const section = obfuscationSection(services);
  return { section, services, dryRuns };
}

function addRead(app: ApiServer, { section, services }: PluginContext): void {
  app.get(
    `${base}/configuration`,
    {
      config: { permission: 'obfuscation:edit' },
      schema: {
        summary: 'What is obfuscated, as the plugin of peers says it',
        tags,
        params,
        response: { 200: pluginBody },
      },
    },
    async () => showPlugin(await section.read(), await services.definitions.catalog()),
  );
}

function addChange(app: ApiServer, { section }: PluginContext): void {
  app.post(
    `${base}/configuration`,
    {
      config: { ...succeeds, audit: 'obfuscation:update', audited: auditedAttempt },
      schema: {
        summary: 'Change what is obfuscated, as the plugin of peers does',
        tags,
        params,
        body: pluginBody,
        response: { 200: Type.String() },
      },
    },
    async (request, reply) => {
      const changes = takePlugin(request.body, await section.read());
      request.audited = await auditedChange(section, () => section.change(changes, request.identity.username));
      return success(reply);
    },
  );
}

function addSync(app: ApiServer, { section }: PluginContext): void {
  takingForms(app, (scope) => {
    scope.put(
      `${base}/configuration/sync`,
      {
        config: { ...succeeds, audit: 'obfuscation:sync', audited: auditedAttempt },
        schema: {
          summary: 'Bring back what the rule files say',
          tags,
          params,
          consumes: ['application/x-www-form-urlencoded', 'application/json'],
          response: { 200: Type.String() },
          body: Type.Object({
            sync_mode: Type.String({
              maxLength: 50,
              description:
                'create-only: patterns of the files that were taken away are there again, changed ones stay. force-update: patterns of the files are as they stand there. skip: nothing. Those that were made here stay.',
            }),
          }),
        },
      },
      async (request, reply) => {
        const {
          body: { sync_mode: text },
          identity,
        } = request;
        const mode = syncModeOf(text);
        if (mode === undefined)
          throw failure(
            'API_VALUE_INVALID',
            `sync_mode: This mode is not known. Got ${JSON.stringify(text)}. Allowed: create-only, force-update, skip.`,
            { body: { path: 'sync_mode' } },
          );
        const { object, details } = await auditedChange(section, () => section.sync(mode, identity.username));
        request.audited = { object, details: { sync_mode: mode, ...details } };
        return success(reply);
      },
    );
  });
}

function addReset(app: ApiServer, { section }: PluginContext): void {
  app.put(
    `${base}/configuration/reset`,
    {
      config: { ...succeeds, audit: 'obfuscation:reset', audited: auditedAttempt },
      schema: { summary: 'Back to what the files say', tags, params, response: { 200: Type.String() } },
    },
    async (request, reply) => {
      request.audited = await auditedChange(section, () => section.reset(request.identity.username));
      return success(reply);
    },
  );
}

function addRestore(app: ApiServer, { section }: PluginContext): void {
  app.put(
    `${base}/configuration/restore`,
    {
      config: { ...succeeds, audit: 'obfuscation:restore', audited: auditedAttempt },
      schema: {
        summary: 'Take over what is stored; every change is stored and taken over at once anyway',
        tags,
        params,
        response: { 200: Type.String() },
      },
    },
    async (request, reply) => {
      request.audited = await auditedChange(section, () => section.restore());
      return success(reply);
    },
  );
}

function addReplacers(app: ApiServer): void {
  app.get(
    `${base}/replacers`,
    {
      config: { permission: 'obfuscation:edit' },
      schema: {
        summary: 'How sensitive text can be replaced',
        tags,
        params,
        response: { 200: Type.Array(Type.String()) },
      },
    },
    async () => [starReplacer],
  );
}

function addPatternCheck(app: ApiServer, { dryRuns }: PluginContext): void {
  app.post(
    `${base}/regex/compile/test`,
    {
      config: { permission: 'obfuscation:edit', reads: true },
      schema: {
        summary: 'Which of these patterns cannot be used',
        tags,
        params,
        body: testedPatterns,
        response: { 200: testedPatterns },
      },
    },
    async ({ body }) =>
      body.filter((item) => dryRuns.patternProblem(typeof item === 'string' ? item : item.pattern) !== undefined),
  );
}

function addDryRun(app: ApiServer, { dryRuns, section }: PluginContext): void {
  takingTexts(app, (scope) => {
    scope.post(
      base,
      {
        config: { permission: 'obfuscation:edit', reads: true },
        schema: {
          summary: 'What becomes of a text',
          tags,
          params,
          consumes: ['text/plain', 'application/json'],
          body: Type.Union([text, Type.Object({ text })]),
          response: { 200: Type.Object({ obfuscatedText: Type.String(), foundSensitiveData: Type.Array(found) }) },
        },
      },
      async ({ body }) => {
        const result = dryRuns.obfuscation(typeof body === 'string' ? body : body.text, await section.read());
        return {
          obfuscatedText: result.text,
          foundSensitiveData: result.found.map(({ start, end, text: sensitiveText, pattern: finder }) => ({
            start,
            end,
            sensitiveText,
            finder,
          })),
        };
      },
    );
  });
}
