/** Receivers, which scripts know as inputs: list, read, create, change, start, stop, delete, while the program runs. */
import { Type, type Static } from 'typebox';
import { apiIdOf, findId } from '../../../core/object-ids.js';
import { idFromTitle } from '../../../pipeline/objects/names.js';
import { runtimeReceivers } from '../../../pipeline/objects/receiver-options.js';
import type { ApiServer } from '../contract.js';
import { failure, invalidMembers } from '../failure.js';
import { found, storing } from '../objects/changing.js';
import { inputAnswer, inputBody, showInput, takeInput } from '../objects/input-shape.js';
import { nothing, nullable, objectId } from '../objects/shapes.js';
import type { ApiServices } from '../services.js';

const tags = ['Receivers'];
const base = '/api/system/inputs';
const params = Type.Object({ inputId: objectId('Receiver.') });
const stateAnswer = Type.Object({
  id: Type.String(), name: Type.String(), state: Type.Enum(['STARTING', 'RUNNING', 'FAILED', 'STOPPED', 'ELSEWHERE'], { description: 'In this process; ELSEWHERE: it has no role receiver.' }), detailed_message: nullable(Type.String()),
  address: nullable(Type.Object({ protocol: Type.String(), host: Type.String(), port: Type.Integer(), tls: Type.Boolean() })),
});
const created = Type.Object({ id: Type.String(), name: Type.String() });

export function receiverRoutes(app: ApiServer, services: ApiServices): void {
  const { sluice, config } = services;
  const { world } = sluice;
  const all = (): Static<typeof inputAnswer>[] => [
    ...config.receivers.map((options) => showInput(options, { title: options.name, enabled: true, createdAt: null, createdBy: '', origin: 'file' })),
    ...runtimeReceivers(world.kept()).map(({ id, title, enabled, options }) => {
      const kept = world.kept().find((object) => object.kind === 'receivers' && object.id === id);
      return showInput(options, { title, enabled, createdAt: kept?.created_at ?? null, createdBy: kept?.created_by ?? '', origin: 'api' });
    }),
  ];
  const inputOf = (name: string): Static<typeof inputAnswer> => {
    const inputs = all();
    const id = findId(inputs.map((input) => input.name), name);
    return found('receiver', inputs.find((input) => input.name === id));
  };
  const changeable = (name: string): string => {
    const input = inputOf(name);
    if (input.origin === 'file') throw failure(409, `The receiver ${input.name} stands in the settings file and is changed there.`, { body: { origin: 'file' } });
    return input.name;
  };
  const stateOf = ({ id, name }: Static<typeof inputAnswer>): Static<typeof stateAnswer> => {
    const own = sluice.runtimeReceivers?.state(name);
    const running = sluice.receivers.find((receiver) => receiver.name === name);
    const state = sluice.runtimeReceivers === undefined ? 'ELSEWHERE' : own?.state ?? (running === undefined ? 'STARTING' : 'RUNNING');
    return { id, name, state, detailed_message: own?.problem ?? null, address: running?.address() ?? null };
  };
  const change = (id: string, by: string, settings: Readonly<Record<string, unknown>>, secrets: Readonly<Record<string, string | undefined>> = {}) => storing(() => world.objects().change('receivers', id, (before) => ({
    definition: { ...before?.definition, ...settings, id, ...(settings['tls'] === undefined ? {} : { tls: { ...(before?.definition['tls'] as object | undefined), ...(settings['tls'] as object) } }) },
    secrets: Object.fromEntries(Object.entries({ ...Object.fromEntries(Object.entries(before?.secrets ?? {}).map(([name, { value }]) => [name, value])), ...secrets }).filter((entry): entry is [string, string] => entry[1] !== undefined)),
  }), by));

  app.get(base, { config: { permission: 'system:read' }, schema: { summary: 'Receivers, of the settings file and of the API', tags, response: { 200: Type.Object({ total: Type.Integer(), inputs: Type.Array(inputAnswer) }) } } }, async () => {
    const inputs = all();
    return { total: inputs.length, inputs };
  });

  app.get(`${base}/types`, { config: { permission: 'system:read' }, schema: { summary: 'Kinds of receivers', tags, response: { 200: Type.Object({ types: Type.Record(Type.String(), Type.String()) }) } } }, async () => ({ types: { gelf_tcp: 'GELF TCP', gelf_udp: 'GELF UDP', gelf_http: 'GELF HTTP' } }));

  app.get(`${base}/:inputId`, { config: { permission: 'system:read' }, schema: { summary: 'One receiver', tags, params, response: { 200: inputAnswer } } }, async ({ params: { inputId } }) => inputOf(inputId));

  app.post(base, {
    config: { permission: 'receivers:edit', audit: 'input:create' }, schema: { summary: 'Create and start a receiver; its state says whether it could', tags, body: inputBody, response: { 201: created } },
  }, async (request, reply) => {
    const { title, type } = request.body;
    if (title === undefined || type === undefined) throw invalidMembers({ ...(title === undefined ? { title: ['A receiver needs a title.'] } : {}), ...(type === undefined ? { type: ['gelf_tcp, gelf_udp or gelf_http.'] } : {}) });
    const { definition, secrets } = takeInput(request.body, undefined);
    const objects = world.objects();
    const names = all().map(({ name }) => name);
    const id = idFromTitle(title, 'receiver', (taken) => names.includes(taken) || objects.wasUsed('receivers', taken));
    const values = Object.fromEntries(Object.entries(secrets).filter((entry): entry is [string, string] => entry[1] !== undefined));
    await storing(() => objects.create('receivers', id, { definition: { ...definition, id }, secrets: values }, request.identity.username));
    request.audited = { object: id };
    return reply.code(201).header('location', `${base}/${apiIdOf(id)}`).send({ id: apiIdOf(id), name: id });
  });

  app.put(`${base}/:inputId`, {
    config: { permission: 'receivers:edit', audit: 'input:update' }, schema: { summary: 'Change what is given of a receiver; it listens anew', tags, params, body: inputBody, response: { 201: created } },
  }, async ({ params: { inputId }, body, identity }, reply) => {
    const id = changeable(inputId);
    const { definition, secrets } = takeInput(body, inputOf(id).type);
    await change(id, identity.username, definition, secrets);
    return reply.code(201).send({ id: apiIdOf(id), name: id });
  });

  app.delete(`${base}/:inputId`, {
    config: { permission: 'receivers:edit', audit: 'input:delete' }, schema: { summary: 'Stop and delete a receiver', tags, params, response: { 204: nothing } },
  }, async ({ params: { inputId }, identity }, reply) => {
    const id = changeable(inputId);
    await storing(() => world.objects().remove('receivers', id, identity.username));
    return reply.code(204).send(null);
  });

  app.get('/api/system/inputstates', { config: { permission: 'system:read' }, schema: { summary: 'What the receivers of this process do', tags, response: { 200: Type.Object({ states: Type.Array(stateAnswer) }) } } }, async () => ({ states: all().map(stateOf) }));

  app.get('/api/system/inputstates/:inputId', { config: { permission: 'system:read' }, schema: { summary: 'What a receiver of this process does', tags, params, response: { 200: stateAnswer } } }, async ({ params: { inputId } }) => stateOf(inputOf(inputId)));

  app.put('/api/system/inputstates/:inputId', {
    config: { permission: 'receivers:edit', audit: 'input:start' }, schema: { summary: 'Start a receiver', tags, params, response: { 200: stateAnswer } },
  }, async ({ params: { inputId }, identity }) => {
    const id = changeable(inputId);
    await change(id, identity.username, { enabled: true });
    return stateOf(inputOf(id));
  });

  app.delete('/api/system/inputstates/:inputId', {
    config: { permission: 'receivers:edit', audit: 'input:stop' }, schema: { summary: 'Stop a receiver', tags, params, response: { 200: stateAnswer } },
  }, async ({ params: { inputId }, identity }) => {
    const id = changeable(inputId);
    await change(id, identity.username, { enabled: false });
    return stateOf(inputOf(id));
  });
}
