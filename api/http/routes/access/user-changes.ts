/** Changes of users: who creates, changes and deletes whom is checked where the users are stored. */
import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';
import type { User, UserChange } from '../../../../access/contract.js';
import { newUserBody, passwordBody, preferencesBody, userBody, type UserBody } from '../../../../schemas/api-access.js';
import type { Audited } from '../../audited.js';
import type { ApiServer } from '../../contract.js';
import { invalidMembers } from '../../failure.js';
import type { ApiServices } from '../../services.js';
import { userAnswerOf } from '../../user-answer.js';
import { byName, emptyBody, none, params, tags } from './user-shapes.js';

const changing = {
  permission: 'authenticated',
  checks: 'others than oneself: `users:edit`, and all rights of that user',
} as const;

export function createUser(app: ApiServer, { access }: ApiServices): void {
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
}

export function changeUser(app: ApiServer, { access }: ApiServices): void {
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
}

export function changePreferences(app: ApiServer, { access }: ApiServices): void {
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
}

export function changePassword(app: ApiServer, { access }: ApiServices): void {
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
      await access.setPassword(request.identity, byName(request), {
        password,
        old: old ?? undefined,
        address: request.ip,
      });
      return reply.code(204).send(null);
    },
  );
}

/** Names what was sent and differs now. The rest may be somebody else's change at the same time. */
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
