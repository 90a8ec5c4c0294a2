/** Roles and their members. */
import { Type } from 'typebox';
import type { RoleDefinition } from '../../../../access/contract.js';
import type { Identity } from '../../../../schemas/access.js';
import { membersAnswer, nameParameter, newRoleBody, roleAnswer, roleBody } from '../../../../schemas/api-access.js';
import type { ApiServer } from '../../contract.js';
import { failure } from '../../failure.js';
import type { ApiServices } from '../../services.js';
import { userAnswerOf } from '../../user-answer.js';

const tags = ['Roles'];
const params = nameParameter('name', 'Name of the role, in any case.');
const memberParams = Type.Object({
  ...params.properties,
  username: Type.String({ description: 'Name of the user, in any case, or id.', minLength: 1, maxLength: 400 }),
});
const none = { 204: Type.Null({ description: 'Done.' }) };
const roleName = (request: { params: unknown }): string => (request.params as { name: string }).name;
const answerOf = ({ name, description, permissions, readOnly, origin, file }: RoleDefinition) => ({
  name,
  description,
  permissions: [...permissions],
  read_only: readOnly,
  origin,
  file: file ?? null,
});

export function roleRoutes(app: ApiServer, services: ApiServices): void {
  addMembers(app, services);
  listRoles(app, services);
  showRole(app, services);
  createRole(app, services);
  changeRole(app, services);
  deleteRole(app, services);
}

function listRoles(app: ApiServer, { access }: ApiServices): void {
  app.get(
    '/api/roles',
    {
      config: { permission: 'authenticated', checks: "others than one's own: `users:edit` or `roles:edit`" },
      schema: {
        summary: "Roles; one's own for who may not edit users or roles",
        tags,
        response: { 200: Type.Object({ roles: Type.Array(roleAnswer), total: Type.Integer() }) },
      },
    },
    async ({ identity }) => {
      const roles = access
        .roles()
        .filter(({ name }) => maySee(identity, name))
        .map(answerOf);
      return { roles, total: roles.length };
    },
  );
}

function showRole(app: ApiServer, { access }: ApiServices): void {
  app.get(
    '/api/roles/:name',
    {
      config: { permission: 'authenticated', checks: "others than one's own: `users:edit` or `roles:edit`" },
      schema: { summary: 'A role', tags, params, response: { 200: roleAnswer } },
    },
    async (request) => {
      if (!maySee(request.identity, roleName(request)))
        throw failure('API_FORBIDDEN', 'Not allowed: this needs roles:edit.');
      return answerOf(access.role(roleName(request)));
    },
  );
}

function createRole(app: ApiServer, { access }: ApiServices): void {
  app.post(
    '/api/roles',
    {
      config: { permission: 'roles:edit', checks: 'all rights of the role', audit: 'role:create' },
      schema: { summary: 'Create a role', tags, body: newRoleBody, response: { 201: roleAnswer } },
    },
    async (request, reply) => {
      const { name, description, permissions } = request.body;
      request.audited = { object: `name=${name}`, details: { permissions: permissions ?? [] } };
      const role = await access.createRole(request.identity, name, description ?? '', permissions ?? []);
      return reply
        .code(201)
        .header('location', `/api/roles/${encodeURIComponent(role.name)}`)
        .send(answerOf(role));
    },
  );
}

function changeRole(app: ApiServer, { access }: ApiServices): void {
  app.put(
    '/api/roles/:name',
    {
      config: {
        permission: 'roles:edit',
        checks: 'all rights of the role, before and after; not of a rule file',
        audit: 'role:update',
      },
      schema: { summary: 'Change a role', tags, params, body: roleBody, response: { 200: roleAnswer } },
    },
    async (request) => {
      const { name, description, permissions } = request.body;
      request.audited = { object: `name=${roleName(request)}`, details: { permissions: permissions ?? undefined } };
      const role = await access.changeRole(request.identity, roleName(request), {
        name: name ?? undefined,
        description: description ?? undefined,
        permissions: permissions ?? undefined,
      });
      if (role.readOnly) request.audited = { object: `name=${role.name}`, details: { changed: [] } };
      return answerOf(role);
    },
  );
}

function deleteRole(app: ApiServer, { access }: ApiServices): void {
  app.delete(
    '/api/roles/:name',
    {
      config: { permission: 'roles:edit', checks: 'all rights of the role; not of a rule file', audit: 'role:delete' },
      schema: { summary: 'Delete a role; its members lose it', tags, params, response: none },
    },
    async (request, reply) => {
      await access.deleteRole(request.identity, roleName(request));
      return reply.code(204).send(null);
    },
  );
}

function addMembers(app: ApiServer, { access }: ApiServices): void {
  app.get(
    '/api/roles/:name/members',
    {
      config: { permission: 'authenticated', checks: '`users:edit` or `roles:edit`' },
      schema: { summary: 'Users with the role', tags, params, response: { 200: membersAnswer } },
    },
    async (request) => {
      const users = access.members(request.identity, roleName(request));
      const directory = access.directoryEnabled();
      return {
        role: access.role(roleName(request)).name,
        users: users.map((user) => userAnswerOf(user, { permissions: false, directory })),
      };
    },
  );
  const config = { permission: 'users:edit', checks: 'all rights of the role' } as const;
  app.put(
    '/api/roles/:name/members/:username',
    {
      config: { ...config, audit: 'role:add_member' },
      schema: { summary: 'Give a user the role', tags, params: memberParams, response: none },
    },
    async (request, reply) => {
      await access.addMember(request.identity, roleName(request), request.params.username);
      return reply.code(204).send(null);
    },
  );
  app.delete(
    '/api/roles/:name/members/:username',
    {
      config: { ...config, audit: 'role:remove_member' },
      schema: { summary: 'Take the role from a user', tags, params: memberParams, response: none },
    },
    async (request, reply) => {
      await access.removeMember(request.identity, roleName(request), request.params.username);
      return reply.code(204).send(null);
    },
  );
}

function maySee(identity: Identity, name: string): boolean {
  const all =
    identity.administrator || identity.capabilities.has('roles:edit') || identity.capabilities.has('users:edit');
  return all || identity.roles.some((role) => role.toLowerCase() === name.toLowerCase());
}
