/** Users: oneself for everybody, all of them for who may edit users. The name or the id stands in the path. */
import { Type } from 'typebox';
import type { User } from '../../../../access/contract.js';
import { userAnswer, type UserAnswer } from '../../../../schemas/api-access.js';
import type { Identity } from '../../../../schemas/access.js';
import type { ApiServer } from '../../contract.js';
import { failure } from '../../failure.js';
import type { ApiServices } from '../../services.js';
import { userAnswerOf } from '../../user-answer.js';
import { changePassword, changePreferences, changeUser, createUser } from './user-changes.js';
import { byName, emptyBody, none, params, tags } from './user-shapes.js';

/** Checked where the users are kept. */
const config = { permission: 'authenticated', checks: 'others than oneself: `users:edit`' } as const;
const ending = { permission: 'users:edit', checks: 'all rights of that user' } as const;

export function userRoutes(app: ApiServer, services: ApiServices): void {
  addReading(app, services);
  addPages(app, services);
  createUser(app, services);
  changeUser(app, services);
  changePreferences(app, services);
  changePassword(app, services);
  addEnding(app, services);
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
