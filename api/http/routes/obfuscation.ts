/** Obfuscation: read and change what is replaced in sensitive messages, and try it on a text. Under the names of rule files, and under those of the peer's plugin. */
import { Type, type Static } from 'typebox';
import { patternProblem, tryObfuscation } from '../../../pipeline/objects/try-text.js';
import type { ApiServer } from '../contract.js';
import { invalidMembers } from '../failure.js';
import { storing } from '../objects/changing.js';
import { given, nothing } from '../objects/shapes.js';
import { isTitleOf, showPlugin, takePlugin, pluginBody } from '../objects/obfuscation-plugin.js';
import type { ApiServices } from '../services.js';

const tags = ['Obfuscation'];
const base = '/api/system/obfuscation';
const pattern = { id: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]*$', maxLength: 100 }), title: Type.Optional(Type.String({ maxLength: 200 })), pattern: Type.Optional(Type.String({ minLength: 1, maxLength: 5_000, description: 'RE2 syntax.' })), enabled: Type.Optional(Type.Boolean()) };
const fields = {
  enabled: Type.Optional(Type.Boolean()), fields: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 100 })), streams: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 1_000, description: 'Ids or titles of streams.' })),
  replacement: Type.Optional(Type.String({ maxLength: 200 })), patterns: Type.Optional(Type.Array(Type.Object({ ...pattern, importance: Type.Optional(Type.Number()) }), { maxItems: 500, description: 'By id; those that are not named stay. One is switched off with enabled: false.' })),
  white_patterns: Type.Optional(Type.Array(Type.Object(pattern), { maxItems: 500 })),
};
const section = Type.Object(fields, { description: 'What is replaced, where, by what.' });
const tryBody = Type.Object({ text: Type.String({ maxLength: 1_000_000 }), patterns: fields.patterns, white_patterns: fields.white_patterns, replacement: fields.replacement });
const tryAnswer = Type.Object({ text: Type.String(), found: Type.Array(Type.Object({ start: Type.Integer(), end: Type.Integer(), text: Type.String(), pattern: Type.String() })) });
const pluginParams = Type.Object({ plugin: Type.String({ maxLength: 100, description: 'Any name.' }) });

export function obfuscationRoutes(app: ApiServer, services: ApiServices): void {
  const { world } = services.sluice;
  const read = async (): Promise<Static<typeof section>> => (await world.catalog()).obfuscation;
  const change = async (changes: Static<typeof section>, by: string): Promise<void> => {
    const catalog = await world.catalog();
    const streams = changes.streams?.map((name) => (catalog.find('streams', name) ?? catalog.list('streams').find((item) => isTitleOf(item, name)))?.id ?? name);
    await storing(() => world.objects().change('obfuscation', 'section', (before) => ({
      definition: { ...before?.definition, ...given({ ...changes, streams, patterns: joined(before?.definition['patterns'], changes.patterns), white_patterns: joined(before?.definition['white_patterns'], changes.white_patterns) }) },
    }), by));
  };

  app.get(base, { config: { permission: 'obfuscation:edit' }, schema: { summary: 'What is obfuscated', tags, response: { 200: section } } }, read);

  app.put(base, { config: { permission: 'obfuscation:edit', audit: 'obfuscation:update' }, schema: { summary: 'Change what is given of the obfuscation, at once and for good', tags, body: section, response: { 200: section } } }, async ({ body, identity }) => {
    await change(body, identity.username);
    return read();
  });

  app.delete(base, { config: { permission: 'obfuscation:edit', audit: 'obfuscation:reset' }, schema: { summary: 'Back to what the files say', tags, response: { 204: nothing } } }, async ({ identity }, reply) => {
    if (world.objects().find('obfuscation', 'section') !== undefined) await storing(() => world.objects().remove('obfuscation', 'section', identity.username));
    return reply.code(204).send(null);
  });

  app.post(`${base}/try`, { config: { permission: 'obfuscation:edit', reads: true }, schema: { summary: 'What becomes of a text, with the patterns as they are or as they might be', tags, body: tryBody, response: { 200: tryAnswer } } }, async ({ body: { text, ...rest } }) => {
    const settings = { ...(await read()), ...rest };
    for (const { id, pattern: source } of [...(rest.patterns ?? []), ...(rest.white_patterns ?? [])]) {
      const problem = source === undefined ? 'there is none' : patternProblem(source);
      if (problem !== undefined) throw invalidMembers({ [`patterns.${id}`]: [`The pattern cannot be compiled: ${problem}.`] });
    }
    const { text: replaced, found } = tryObfuscation(text, settings);
    return { text: replaced, found: [...found] };
  });

  const plugin = '/api/plugins/:plugin/obfuscation';
  app.get(`${plugin}/configuration`, { config: { permission: 'obfuscation:edit' }, schema: { summary: 'What is obfuscated, as the plugin of peers says it', tags, params: pluginParams, response: { 200: pluginBody } } }, async () => showPlugin(await read(), await world.catalog()));

  app.post(`${plugin}/configuration`, {
    config: { permission: 'obfuscation:edit', audit: 'obfuscation:update', produces: ['text/plain', 'application/json'] }, schema: { summary: 'Change what is obfuscated, as the plugin of peers does', tags, params: pluginParams, body: pluginBody, response: { 200: Type.String() } },
  }, async ({ body, identity }, reply) => {
    await change(takePlugin(body, await read()), identity.username);
    return reply.type('text/plain; charset=utf-8').serializer(String).send('Success');
  });

  app.get(`${plugin}/replacers`, { config: { permission: 'obfuscation:edit' }, schema: { summary: 'How sensitive text can be replaced', tags, params: pluginParams, response: { 200: Type.Array(Type.String()) } } }, async () => ['Static Star Replacer']);

  app.post(plugin, {
    config: { permission: 'obfuscation:edit', reads: true },
    schema: { summary: 'What becomes of a text', tags, params: pluginParams, body: Type.Object({ text: Type.String({ maxLength: 1_000_000 }) }), response: { 200: Type.Object({ obfuscatedText: Type.String(), foundSensitiveData: Type.Array(Type.Object({ start: Type.Integer(), end: Type.Integer(), sensitiveText: Type.String(), finder: Type.String() })) }) } },
  }, async ({ body: { text } }) => {
    const result = tryObfuscation(text, await read());
    return { obfuscatedText: result.text, foundSensitiveData: result.found.map(({ start, end, text: sensitiveText, pattern: finder }) => ({ start, end, sensitiveText, finder })) };
  });
}

/** What is kept already, with the changes by id. */
function joined(before: unknown, changes: readonly { readonly id: string }[] | undefined): readonly object[] | undefined {
  if (changes === undefined) return undefined;
  const byId = new Map<string, object>(((before ?? []) as readonly { readonly id: string }[]).map((item) => [item.id, item]));
  for (const item of changes) byId.set(item.id, { ...byId.get(item.id), ...item });
  return [...byId.values()];
}
