/** Sessions: login, the question whether one is logged in, logout. */
import { Type } from 'typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { nameParameter, sessionAnswer, sessionRequest, sessionState } from '../../../../schemas/api-access.js';
import { maxUser, oneLine } from '../../audit/access-line.js';
import { membersOf, textOf, type Audited } from '../../audited.js';
import type { ApiServer } from '../../contract.js';
import { sessionCookie } from '../../credentials.js';
import type { ApiServices } from '../../services.js';

const tags = ['Sessions'];
const none = { 204: Type.Null({ description: 'Done.' }) };

export function sessionRoutes(app: ApiServer, services: ApiServices): void {
  logIn(app, services);
  showSession(app);
  logOut(app, services);
  endSession(app, services);
}

function logIn(app: ApiServer, { access }: ApiServices): void {
  app.post(
    '/api/system/sessions',
    {
      config: {
        permission: 'public',
        audit: 'session:create',
        audited: ({ body }) => ofUser(textOf(membersOf(body)['username'])),
      },
      schema: { summary: 'Log in', tags, body: sessionRequest, response: { 200: sessionAnswer } },
    },
    async (request, reply) => {
      const { username, password, host } = request.body;
      const session = await access.openSession(username, password, { address: request.ip, host: host ?? undefined });
      request.audited = ofUser(session.username);
      setCookie(request, reply, session.sessionId);
      return {
        valid_until: peersTime(session.validUntil),
        session_id: session.sessionId,
        username: session.username,
        user_id: session.userId,
      };
    },
  );
}

function showSession(app: ApiServer): void {
  app.get(
    '/api/system/sessions',
    {
      config: { permission: 'public' },
      schema: { summary: 'Whether the credentials of this request are valid', tags, response: { 200: sessionState } },
    },
    async (request, reply) => {
      const identity = request.identity as typeof request.identity | undefined;
      if (identity === undefined && request.cookies[sessionCookie] !== undefined) clearCookie(request, reply);
      return {
        is_valid: identity !== undefined,
        session_id: identity?.sessionId ?? null,
        username: identity?.username ?? null,
      };
    },
  );
}

function logOut(app: ApiServer, { access }: ApiServices): void {
  app.delete(
    '/api/system/sessions',
    {
      config: { permission: 'authenticated', audit: 'session:delete' },
      schema: { summary: 'Log out', tags, response: none },
    },
    async (request, reply) => {
      if (request.identity.sessionId !== undefined)
        request.audited = ofUser(await access.closeSession(request.identity.sessionId));
      clearCookie(request, reply);
      return reply.code(204).send(null);
    },
  );
}

function endSession(app: ApiServer, { access }: ApiServices): void {
  app.delete(
    '/api/system/sessions/:sessionId',
    {
      config: { permission: 'authenticated', audit: 'session:delete' },
      schema: {
        summary: 'Log out of a session',
        tags,
        params: nameParameter('sessionId', 'As the login gave it; one that has ended is taken too.'),
        response: none,
      },
    },
    async (request, reply) => {
      request.audited = ofUser(await access.closeSession((request.params as { sessionId: string }).sessionId));
      clearCookie(request, reply);
      return reply.code(204).send(null);
    },
  );
}

/** Also of a failed login, whose line in the access log has this name too. */
const ofUser = (name: string | undefined): Audited => ({
  object: name === undefined ? undefined : `user=${oneLine(name, maxUser)}`,
});

/** Not for scripts of pages, and not sent with requests that other sites cause. */
function attributes(request: FastifyRequest): { path: string; httpOnly: boolean; sameSite: 'strict'; secure: boolean } {
  return { path: '/', httpOnly: true, sameSite: 'strict', secure: request.protocol === 'https' };
}

function setCookie(request: FastifyRequest, reply: FastifyReply, sessionId: string): void {
  void reply.setCookie(sessionCookie, sessionId, attributes(request));
}

function clearCookie(request: FastifyRequest, reply: FastifyReply): void {
  void reply.clearCookie(sessionCookie, attributes(request));
}

/** `2026-11-21T18:42:24.065+0000`, as clients of peers read it. */
function peersTime(at: number): string {
  return new Date(at).toISOString().replace('Z', '+0000');
}
