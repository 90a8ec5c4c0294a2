/** The directory that users come from: its settings, and trying them. */
import type { DirectorySettings } from '../../../../access/directory/contract.js';
import {
  connectionTestBody,
  directoryAnswer,
  directoryBody,
  loginTestBody,
  testAnswer,
  type DirectoryBody,
  type TriedSettings,
} from '../../../../schemas/api-authentication.js';
import type { LdapOptions } from '../../../../schemas/config/ldap.js';
import type { FastifyRequest } from 'fastify';
import { membersOf, type Audited } from '../../audited.js';
import type { ApiServer } from '../../contract.js';
import { invalidMembers } from '../../failure.js';
import type { ApiServices } from '../../services.js';

const tags = ['Authentication'];
const permission = 'authentication:edit';

export function authenticationRoutes(app: ApiServer, services: ApiServices): void {
  showDirectory(app, services);
  setDirectory(app, services);
  testConnection(app, services);
  testLogin(app, services);
}

function showDirectory(app: ApiServer, { access }: ApiServices): void {
  app.get(
    '/api/system/authentication/ldap',
    {
      config: { permission },
      schema: { summary: 'Settings of the directory, without its password', tags, response: { 200: directoryAnswer } },
    },
    async ({ identity }) => answerOf(await access.directory(identity)),
  );
}

function setDirectory(app: ApiServer, { access }: ApiServices): void {
  app.put(
    '/api/system/authentication/ldap',
    {
      config: { permission: 'administrator', audit: 'authentication:update' },
      schema: { summary: 'Set the directory', tags, body: directoryBody, response: { 200: directoryAnswer } },
    },
    async (request) => {
      request.audited = { object: 'ldap', details: { changed: Object.keys(request.body) } };
      return answerOf(await access.setDirectory(request.identity, settingsOf(request.body)));
    },
  );
}

function testConnection(app: ApiServer, { access }: ApiServices): void {
  app.post(
    '/api/system/authentication/ldap/test-connection',
    {
      config: { permission, audit: 'authentication:test', audited: ({ body }) => auditedTest(urlsOf(body)) },
      schema: {
        summary: 'Connect, bind and look for the search base',
        tags,
        body: connectionTestBody,
        response: { 200: testAnswer },
      },
    },
    async (request) => {
      const servers = await serversOf(access, request);
      const result = await access.testConnection(request.identity, triedSettings(request.body ?? {}));
      request.audited = { ...auditedTest(servers), details: { succeeded: result.success } };
      return result;
    },
  );
}

function testLogin(app: ApiServer, { access }: ApiServices): void {
  app.post(
    '/api/system/authentication/ldap/test-login',
    {
      config: { permission, audit: 'authentication:test' },
      schema: {
        summary: 'Try a login, and see which roles and streams it would give; nobody is logged in',
        tags,
        body: loginTestBody,
        response: { 200: testAnswer },
      },
    },
    async (request) => {
      const { username, password, ...settings } = request.body;
      const object = `username=${username}`;
      request.audited = { object };
      const servers = await serversOf(access, request);
      const { success, message, user, roles, streams } = await access.testLogin(
        request.identity,
        username,
        password,
        triedSettings(settings),
      );
      request.audited = { object, details: { servers: servers.map(withoutCredentials), succeeded: success } };
      const found =
        user === undefined
          ? {}
          : {
              user: {
                dn: user.dn,
                username: user.username,
                full_name: user.fullName,
                email: user.email,
                groups: [...user.groups],
              },
            };
      return {
        success,
        message,
        ...found,
        ...(roles === undefined ? {} : { roles: [...roles] }),
        ...(streams === undefined ? {} : { streams: [...streams] }),
      };
    },
  );
}

/** The servers that the body names, else those in force. */
async function serversOf(access: ApiServices['access'], request: FastifyRequest): Promise<readonly string[]> {
  return urlsOf(request.body) ?? (await access.directory(request.identity)).settings.urls;
}

function urlsOf(body: unknown): readonly string[] | undefined {
  const { urls } = membersOf(membersOf(body)['settings'] ?? body);
  return Array.isArray(urls) ? urls.map(String) : undefined;
}

function auditedTest(servers: readonly string[] | undefined): Audited {
  return { object: ['ldap', ...(servers ?? []).map(withoutCredentials)].join(' ') };
}

const withoutCredentials = (url: string): string => url.replace(/\/\/.*@/s, '//');

function answerOf({ fromFile, passwordSet, settings }: DirectorySettings) {
  return { from_file: fromFile, bind_password_set: passwordSet, settings: { ...settings } };
}

function triedSettings({ settings, ...flat }: TriedSettings): Partial<LdapOptions> {
  const [first] = Object.keys(flat);
  if (settings !== undefined && first !== undefined)
    throw invalidMembers({
      [first]: ['Given beside settings. Allowed: all of them in the body itself, or all of them under settings.'],
    });
  return settingsOf(settings ?? flat);
}

/** Null is as if it was left out. */
function settingsOf({ bind_password: password, ...settings }: DirectoryBody): Partial<LdapOptions> {
  return { ...settings, ...(password === undefined || password === null ? {} : { bind_password: password }) };
}
