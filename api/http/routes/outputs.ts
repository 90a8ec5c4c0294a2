/** Outputs: list, read, create, change, start, pause, delete, what they do now; and their streams. */
import { Type } from 'typebox';
import { apiIdOf } from '../../../core/object-ids.js';
import { idFromTitle } from '../../../pipeline/objects/names.js';
import { has, mayEditStream, mayReadStream, type Identity } from '../../../schemas/access.js';
import type { ApiServer } from '../contract.js';
import { failure, invalidMembers } from '../failure.js';
import { assertChangeable, assertRemovable, found, storing } from '../objects/changing.js';
import { outputAnswer, outputBody, outputState, showOutput, showState, streamsOf, takeOutput, type TakenOutput } from '../objects/output-shape.js';
import { listOf, nothing, objectId } from '../objects/shapes.js';
import type { ApiServices } from '../services.js';

const tags = ['Outputs'];
const base = '/api/system/outputs';
const params = Type.Object({ outputId: objectId('Output.') });
const streamParams = Type.Object({ streamId: objectId('Stream.') });
const bothParams = Type.Object({ streamId: objectId('Stream.'), outputId: objectId('Output.') });
const list = Type.Object({ total: Type.Integer(), outputs: Type.Array(outputAnswer) });
const idFallback = 'output';

export function outputRoutes(app: ApiServer, services: ApiServices): void {
  const { world } = services.sluice;
  const statusOf = async (id: string) => ((await services.sluice.outputs?.status()) ?? []).find((status) => status.id === id);
  const itemOf = async (name: string) => found('output', (await world.catalog()).find('outputs', name));
  const show = async (id: string, identity: Identity) => {
    const catalog = await world.catalog();
    return showOutput(found('output', catalog.find('outputs', id)), streamsOf(id, catalog), (stream) => mayReadStream(identity.scope, stream), await statusOf(id));
  };
  const editableStreams = async (names: readonly string[], identity: Identity): Promise<string[]> => {
    const catalog = await world.catalog();
    return names.map((name) => {
      const stream = catalog.find('streams', name);
      if (stream === undefined || !mayReadStream(identity.scope, stream.id)) throw invalidMembers({ streams: [`There is no stream ${name}.`] });
      if (!mayEditStream(identity, stream.id)) throw failure(403, 'Not allowed: this needs editing of the stream.', { type: 'MissingStreamPermission', body: { streams: [name] } });
      return stream.id;
    });
  };
  const update = (id: string, { definition, secrets }: TakenOutput, by: string) => storing(() => world.objects().change('outputs', id, (before) => ({
    definition: { ...before?.definition, ...definition, ...sectionsOf(before?.definition, definition), id },
    secrets: Object.fromEntries(Object.entries({ ...valuesOf(before?.secrets ?? {}), ...secrets }).filter((entry): entry is [string, string] => entry[1] !== undefined)),
  }), by));

  app.get(base, { config: { permission: 'system:read' }, schema: { summary: 'Outputs', tags, response: { 200: list } } }, async ({ identity }) => {
    const outputs = await Promise.all((await world.catalog()).list('outputs').map(({ id }) => show(id, identity)));
    return { total: outputs.length, outputs };
  });

  app.get(`${base}/available`, {
    config: { permission: 'system:read' }, schema: { summary: 'Formats that an output can have', tags, response: { 200: Type.Object({ types: Type.Record(Type.String(), Type.Object({ name: Type.String(), human_name: Type.String(), transports: Type.Array(Type.String()) })) }) } },
  }, async () => ({ types: { GELF: { name: 'GELF', human_name: 'GELF', transports: ['TCP', 'TCP+TLS', 'UDP', 'HTTP', 'HTTP+TLS'] }, SYSLOG: { name: 'SYSLOG', human_name: 'Syslog, RFC 5424 or RFC 3164', transports: ['TCP', 'TCP+TLS', 'UDP'] } } }));

  app.get(`${base}/:outputId`, { config: { permission: 'system:read' }, schema: { summary: 'One output', tags, params, response: { 200: outputAnswer } } }, async ({ params: { outputId }, identity }) => show((await itemOf(outputId)).id, identity));

  app.get(`${base}/:outputId/state`, { config: { permission: 'system:read' }, schema: { summary: 'What an output does now: connection, lag, last error', tags, params, response: { 200: outputState } } }, async ({ params: { outputId } }) => {
    const state = showState(await statusOf((await itemOf(outputId)).id));
    if (state === null) throw failure(404, 'This process does not work on the output; it is paused, or another process has the role output.');
    return state;
  });

  app.post(base, {
    config: { permission: 'outputs:edit', audit: 'output:create' }, schema: { summary: 'Create an output', tags, body: outputBody, response: { 201: outputAnswer } },
  }, async (request, reply) => {
    const { title, streams = [] } = request.body;
    if (title === undefined) throw invalidMembers({ title: ['An output needs a title.'] });
    const { definition, secrets } = takeOutput(request.body);
    const objects = world.objects();
    const catalog = await world.catalog();
    // The id is the name of its topic, in which messages of a deleted one may still wait.
    const id = idFromTitle(title, idFallback, (taken) => catalog.find('outputs', taken) !== undefined || objects.wasUsed('outputs', taken));
    const settings = { ...definition, id, streams: await editableStreams(streams, request.identity) };
    const values = Object.fromEntries(Object.entries(secrets).filter((entry): entry is [string, string] => entry[1] !== undefined));
    await storing(() => objects.create('outputs', id, { definition: settings, secrets: values }, request.identity.username));
    request.audited = { object: id };
    return reply.code(201).header('location', `${base}/${apiIdOf(id)}`).send(await show(id, request.identity));
  });

  app.put(`${base}/:outputId`, {
    config: { permission: 'outputs:edit', audit: 'output:update' }, schema: { summary: 'Change what is given of an output; secrets that are not given stay', tags, params, body: outputBody, response: { 200: outputAnswer } },
  }, async ({ params: { outputId }, body, identity }) => {
    const item = await itemOf(outputId);
    assertChangeable('output', item);
    const taken = takeOutput(body);
    const streams = body.streams === undefined ? {} : { streams: await editableStreams(body.streams, identity) };
    await update(item.id, { ...taken, definition: { ...taken.definition, ...streams } }, identity.username);
    return show(item.id, identity);
  });

  app.delete(`${base}/:outputId`, {
    config: { permission: 'outputs:edit', audit: 'output:delete' }, schema: { summary: 'Delete an output; what waits for it is not sent', tags, params, response: { 204: nothing } },
  }, async ({ params: { outputId }, identity }, reply) => {
    const item = await itemOf(outputId);
    assertRemovable('output', item);
    const { username } = identity;
    for (const stream of world.kept().filter(({ kind, definition }) => kind === 'streams' && listOf<string>(definition['outputs']).includes(item.id))) {
      await storing(() => world.objects().change('streams', stream.id, (before) => ({ definition: { ...before?.definition, outputs: listOf<string>(before?.definition['outputs']).filter((id) => id !== item.id) } }), username));
    }
    await storing(() => world.objects().remove('outputs', item.id, username));
    return reply.code(204).send(null);
  });

  for (const [verb, enabled] of [['resume', true], ['pause', false]] as const) {
    app.post(`${base}/:outputId/${verb}`, {
      config: { permission: 'outputs:edit', audit: `output:${verb}` }, schema: { summary: enabled ? 'Start an output' : 'Pause an output: it takes and sends nothing', tags, params, response: { 204: nothing } },
    }, async ({ params: { outputId }, identity }, reply) => {
      const item = await itemOf(outputId);
      assertChangeable('output', item);
      await update(item.id, { definition: { enabled }, secrets: {} }, identity.username);
      return reply.code(204).send(null);
    });
  }

  app.get('/api/streams/:streamId/outputs', { config: { permission: 'stream:read' }, schema: { summary: 'Outputs of a stream', tags, params: streamParams, response: { 200: list } } }, async ({ streamId, identity }) => {
    const catalog = await world.catalog();
    const ids = catalog.list('outputs').map(({ id }) => id).filter((id) => streamsOf(id, catalog).includes(streamId));
    return { total: ids.length, outputs: await Promise.all(ids.map((id) => show(id, identity))) };
  });

  /** On the side of the output, unless that stands in a file. */
  const attach = async (streamId: string, name: string, attached: boolean, by: string): Promise<void> => {
    const catalog = await world.catalog();
    const output = found('output', catalog.find('outputs', name));
    const stream = found('stream', catalog.find('streams', streamId));
    const changed = (ids: readonly string[], id: string): readonly string[] => (attached ? [...new Set([...ids, id])] : ids.filter((other) => other !== id));
    const named = listOf<string>(stream.settings['outputs']);
    if (output.origin === 'api') await update(output.id, { definition: { streams: changed(listOf<string>(output.settings['streams']), streamId) }, secrets: {} }, by);
    if (output.origin === 'api' && (attached || !named.includes(output.id))) return;
    assertChangeable('stream', stream);
    await storing(() => world.objects().change('streams', streamId, (before) => ({ definition: { ...before?.definition, id: streamId, outputs: changed(named, output.id) } }), by));
  };
  const mayAttach = (identity: Identity): void => {
    if (!has(identity, 'outputs:edit')) throw failure(403, 'Not allowed: this needs outputs:edit.');
  };

  app.post('/api/streams/:streamId/outputs', {
    config: { permission: 'stream:edit', audit: 'stream:attach_outputs' },
    schema: { summary: 'Send the messages of a stream to outputs too', tags, params: streamParams, body: Type.Object({ outputs: Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 }) }), response: { 202: nothing } },
  }, async (request, reply) => {
    mayAttach(request.identity);
    for (const name of request.body.outputs) await itemOf(name);
    for (const name of request.body.outputs) await attach(request.streamId, name, true, request.identity.username);
    request.audited = { object: request.streamId, details: { outputs: request.body.outputs } };
    return reply.code(202).send(null);
  });

  app.delete('/api/streams/:streamId/outputs/:outputId', {
    config: { permission: 'stream:edit', audit: 'stream:detach_output' }, schema: { summary: 'Send the messages of a stream to an output no more', tags, params: bothParams, response: { 204: nothing } },
  }, async ({ streamId, params: { outputId }, identity }, reply) => {
    mayAttach(identity);
    const { id } = await itemOf(outputId);
    if (!streamsOf(id, await world.catalog()).includes(streamId)) throw failure(404, 'The stream has no such output.');
    await attach(streamId, id, false, identity.username);
    return reply.code(204).send(null);
  });
}

function valuesOf(secrets: Readonly<Record<string, { readonly value: string }>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(secrets).map(([name, { value }]) => [name, value]));
}

/** Sections that are given in part keep the rest. */
function sectionsOf(before: Readonly<Record<string, unknown>> | undefined, changes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given = ['gelf', 'syslog', 'tls'].filter((section) => typeof changes[section] === 'object' && changes[section] !== null);
  return Object.fromEntries(given.map((section) => [section, { ...(before?.[section] as object | undefined), ...(changes[section] as object) }]));
}
