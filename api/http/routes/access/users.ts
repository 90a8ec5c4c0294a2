/** Users: oneself for everybody, all of them for who may edit users. The name or the id stands in the path. */
import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';
import type { User, UserChange } from '../../../../access/contract.js';
import {
  newUserBody,
  nameParameter,
  passwordBody,
  preferencesBody,
  userAnswer,
  userBody,
  type UserAnswer,
  type UserBody,
} from '../../../../schemas/api-access.js';
import type { Identity } from '../../../../schemas/access.js';
import type { Audited } from '../../audited.js';
import type { ApiServer } from '../../contract.js';
import { failure, invalidMembers } from '../../failure.js';
import type { ApiServices } from '../../services.js';
import { userAnswerOf } from '../../user-answer.js';

const tags = ['Users'];
const params = nameParameter('username', 'Name, in any case, or id.');
const byName = (request: { params: unknown }): string => (request.params as { username: string }).username;
const none = { 204: Type.Null({ description: 'Done.' }) };
/** JSON has no empty value: null would be sent as its four letters. */
const emptyBody = '' as unknown as null;
/** Checked where the users are kept. */
const config = { permission: 'authenticated', checks: 'others than oneself: `users:edit`' } as const;
const changing = {
  permission: 'authenticated',
  checks: 'others than oneself: `users:edit`, and all rights of that user',
} as const;
const ending = { permission: 'users:edit', checks: 'all rights of that user' } as const;

export function userRoutes(app: ApiServer, services: ApiServices): void {
  addReading(app, services);
  addPages(app, services);
  addChanging(app, services);
  addEnding(app, services);
}

function addChanging(app: ApiServer, { access }: ApiServices): void {
  app.post(
    '/api/users',
    {
      config: { permission: 'users:edit', checks: 'all rights of the roles that are given', audit: 'user:create' },
      schema: {
        summary: 'Create a user',
        tags,
        body: newUserBody,
        response: { 201: Type.Null({ description: 'Created; Location names it.' }) },
      },
    },
    async (request, reply) => {
      const { username, password } = request.body;
      request.audited = { object: `username=${username}` };
      assertGrantedByRoles(request.body.permissions, []);
      const user = await access.createUser(request.identity, username, password, changeOf(request.body));
      request.audited = { object: `username=${user.username}`, details: { roles: user.roles } };
      return reply
        .code(201)
        .header('location', `/api/users/${encodeURIComponent(user.username)}`)
        .send(emptyBody);
    },
  );

  app.put(
    '/api/users/:username',
    {
      config: { ...changing, audit: 'user:update' },
      schema: { summary: 'Change a user', tags, params, body: userBody, response: none },
    },
    async (request, reply) => {
      const before = access.user(request.identity, byName(request));
      request.audited = { object: `username=${before.username}` };
      assertGrantedByRoles(request.body.permissions, before.permissions);
      const user = await access.changeUser(request.identity, before.id, changeOf(request.body));
      request.audited = auditedChange(before, user, request.body);
      return reply.code(204).send(null);
    },
  );

  app.put(
    '/api/users/:username/preferences',
    {
      config: { ...changing, audit: 'user:update' },
      schema: {
        summary: 'Change what the client keeps of a user',
        tags,
        params,
        body: preferencesBody,
        response: none,
      },
    },
    async (request, reply) => {
      const before = access.user(request.identity, byName(request));
      request.audited = auditedChange(
        before,
        await access.changeUser(request.identity, before.id, { preferences: request.body.preferences }),
        request.body,
      );
      return reply.code(204).send(null);
    },
  );

  app.put(
    '/api/users/:username/password',
    {
      config: { ...changing, audit: 'user:password' },
      schema: {
        summary: 'Change a password; the sessions of the user end',
        tags,
        params,
        body: passwordBody,
        response: none,
      },
    },
    async (request, reply) => {
      const { password, old_password: old } = request.body;
      await access.setPassword(request.identity, byName(request), password, old ?? undefined, { address: request.ip });
      return reply.code(204).send(null);
    },
  );
}

function addEnding(app: ApiServer, { access }: ApiServices): void {
  app.put(
    '/api/users/:username/status/:status',
    {
      config: { ...ending, audit: 'user:status' },
      schema: {
        summary: 'Enable or disable a user; the sessions of a disabled one end',
        tags,
        params: Type.Object({
          ...params.properties,
          status: Type.Union([Type.Literal('enabled'), Type.Literal('disabled'), Type.Literal('deleted')]),
        }),
        response: { 200: Type.Null({ description: 'Done.' }), 304: Type.Null({ description: 'It was so already.' }) },
      },
    },
    async (request, reply) => {
      const { status } = request.params as { status: string };
      if (status === 'deleted') await access.deleteUser(request.identity, byName(request));
      else if (!(await access.setEnabled(request.identity, byName(request), status === 'enabled')))
        return reply.code(304).send(null);
      return reply.code(200).send(emptyBody);
    },
  );

  for (const path of ['/api/users/:username', '/api/users/id/:username']) {
    app.delete(
      path,
      {
        config: { ...ending, audit: 'user:delete' },
        schema: { summary: 'Delete a user, with sessions and tokens', tags, params, response: none },
      },
      async (request, reply) => {
        await access.deleteUser(request.identity, byName(request));
        return reply.code(204).send(null);
      },
    );
  }
}

async function shown(
  { access }: ApiServices,
  by: Identity,
  users: readonly User[],
  { permissions, sessions }: { readonly permissions: boolean; readonly sessions: boolean },
): Promise<UserAnswer[]> {
  const activity = sessions ? await access.sessions(by) : undefined;
  const directory = access.directoryEnabled();
  return users.map((user) => userAnswerOf(user, { activity: activity?.get(user.id), permissions, directory }));
}

function addReading(app: ApiServer, services: ApiServices): void {
  const { access } = services;
  app.get(
    '/api/users',
    {
      config,
      schema: {
        summary: 'Users that one may see: all, or oneself',
        tags,
        querystring: Type.Object({
          include_permissions: Type.Boolean({ default: true }),
          include_sessions: Type.Boolean({ default: true }),
        }),
        response: { 200: Type.Object({ users: Type.Array(userAnswer) }) },
      },
    },
    async ({ identity, query }) => ({
      users: await shown(services, identity, access.users(identity), {
        permissions: query.include_permissions,
        sessions: query.include_sessions,
      }),
    }),
  );

  for (const path of ['/api/users/:username', '/api/users/id/:username']) {
    app.get(
      path,
      { config, schema: { summary: 'A user', tags, params, response: { 200: userAnswer } } },
      async (request) => {
        const [answer] = await shown(services, request.identity, [access.user(request.identity, byName(request))], {
          permissions: true,
          sessions: true,
        });
        if (answer === undefined) throw failure('API_NOT_FOUND', 'There is no such user.');
        return answer;
      },
    );
  }
}

function addPages(app: ApiServer, services: ApiServices): void {
  const { access } = services;
  app.get(
    '/api/users/paginated',
    {
      config,
      schema: {
        summary: 'Users that one may see, in pages',
        tags,
        querystring: Type.Object({
          page: Type.Integer({ minimum: 1, default: 1 }),
          per_page: Type.Integer({ minimum: 1, maximum: 1_000, default: 50 }),
          query: Type.String({
            maxLength: 200,
            default: '',
            description: 'Part of the name, the full name or the mail address.',
          }),
          sort: Type.Union([Type.Literal('username'), Type.Literal('full_name'), Type.Literal('email')], {
            default: 'username',
          }),
          order: Type.Union([Type.Literal('asc'), Type.Literal('desc')], { default: 'asc' }),
          include_permissions: Type.Boolean({ description: 'With permissions.', default: false }),
        }),
        response: {
          200: Type.Object({
            users: Type.Array(userAnswer),
            query: Type.String(),
            total: Type.Integer(),
            count: Type.Integer(),
            page: Type.Integer(),
            per_page: Type.Integer(),
          }),
        },
      },
    },
    async ({ identity, query: { page, per_page: perPage, query, sort, order, include_permissions: permissions } }) => {
      const all = await shown(services, identity, access.users(identity), { permissions, sessions: true });
      const wanted = query.toLowerCase();
      const found = all
        .filter((user) =>
          [user.username, user.full_name, user.email].some((text) => text.toLowerCase().includes(wanted)),
        )
        .sort((a, b) => (a[sort] < b[sort] ? -1 : 1) * (order === 'asc' ? 1 : -1));
      const users = found.slice((page - 1) * perPage, page * perPage);
      return { users, query, total: found.length, count: users.length, page, per_page: perPage };
    },
  );
}

/** Of what was sent, what differs: the rest may be somebody else's change at the same time. */
function auditedChange(before: User, after: User, body: UserBody): Audited {
  const [old, now] = [before, after].map(
    (user): Readonly<Record<string, unknown>> => userAnswerOf(user, { permissions: false, directory: false }),
  ) as [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>];
  const sent = [...Object.keys(body), ...(body.full_name === undefined ? [] : ['first_name', 'last_name'])];
  const changed = changeable.filter((name) => sent.includes(name) && !isDeepStrictEqual(old[name], now[name]));
  return { object: `username=${after.username}`, details: { changed, roles: after.roles } };
}

const changeable = [
  'email',
  'first_name',
  'last_name',
  'roles',
  'timezone',
  'session_timeout_ms',
  'startpage',
  'preferences',
  'service_account',
];

/** Clients of peers send an empty list, or back what they were shown. */
function assertGrantedByRoles(wanted: readonly string[] | null | undefined, held: readonly string[]): void {
  const others = (wanted ?? []).filter((one) => !held.includes(one));
  if (others.length > 0)
    throw invalidMembers({
      permissions: [
        `A user has the permissions of the roles. Got ${JSON.stringify(others.join(', ').slice(0, 200))}. Allowed: an empty list, and those that the user has; others come with roles.`,
      ],
    });
}

/** Null is as if it was left out. */
function changeOf(body: UserBody): UserChange {
  const full = body.full_name?.trim();
  const [first, ...rest] = full === undefined ? [] : full.split(/\s+/);
  return {
    email: body.email ?? undefined,
    firstName: body.first_name ?? first,
    lastName: body.last_name ?? (full === undefined ? undefined : rest.join(' ')),
    roles: body.roles ?? undefined,
    timezone: body.timezone ?? undefined,
    sessionTimeoutMs: body.session_timeout_ms ?? undefined,
    startpage: body.startpage,
    preferences: body.preferences ?? undefined,
    serviceAccount: body.service_account ?? undefined,
  };
}
