/** Access tokens of a user: for programs, in place of the password. */
import { Type } from 'typebox';
import type { Token } from '../../../../access/contract.js';
import { nameParameter, newTokenAnswer, newTokenBody, tokenAnswer } from '../../../../schemas/api-access.js';
import type { ApiServer } from '../../contract.js';
import { invalidMembers } from '../../failure.js';
import type { ApiServices } from '../../services.js';

const tags = ['Tokens'];
const params = nameParameter('username', 'Name of the user, in any case, or id.');
const withToken = (description: string) =>
  Type.Object({ ...params.properties, token: Type.String({ description, minLength: 1, maxLength: 400 }) });
const paths = (request: { params: unknown }): { username: string; token: string } =>
  request.params as { username: string; token: string };
const config = {
  permission: 'authenticated',
  checks: 'others than oneself: `users:edit`, and all rights of that user',
} as const;

export function tokenRoutes(app: ApiServer, { access }: ApiServices): void {
  app.get(
    '/api/users/:username/tokens',
    {
      config,
      schema: {
        summary: 'Tokens of a user, without their secrets',
        tags,
        params,
        response: { 200: Type.Object({ tokens: Type.Array(tokenAnswer) }) },
      },
    },
    async (request) => ({ tokens: (await access.tokens(request.identity, paths(request).username)).map(answerOf) }),
  );

  app.post(
    '/api/users/:username/tokens/:token',
    {
      config: { ...config, audit: 'token:create' },
      schema: {
        summary: 'Create a token',
        tags,
        params: withToken('Name of the token.'),
        body: newTokenBody,
        response: { 200: newTokenAnswer },
      },
    },
    async (request) => {
      const { username, token: name } = paths(request);
      request.audited = { object: `username=${username} name=${name}` };
      const token = await access.createToken(
        request.identity,
        username,
        name,
        lifetimeOf(request.body?.token_ttl ?? undefined),
      );
      return { ...answerOf(token), token: token.secret };
    },
  );

  app.delete(
    '/api/users/:username/tokens/:token',
    {
      config: { ...config, audit: 'token:delete', audited: (request) => ({ object: deleted(paths(request)) }) },
      schema: {
        summary: 'Delete a token',
        tags,
        params: withToken('Id of the token, or the token itself.'),
        response: { 204: Type.Null({ description: 'Done.' }) },
      },
    },
    async (request, reply) => {
      const { username, token } = paths(request);
      const { id, name } = await access.deleteToken(request.identity, username, token);
      request.audited = { object: `username=${username} id=${id} name=${name}` };
      return reply.code(204).send(null);
    },
  );
}

/** The path may have the secret, which has never the shape of an id. */
function deleted({ username, token }: { readonly username: string; readonly token: string }): string {
  return `username=${username}${/^[0-9a-f]{24}$/.test(token) ? ` id=${token}` : ''}`;
}

function answerOf({ id, name, createdAt, lastAccess = 0, expiresAt }: Token) {
  const time = (at: number): string => new Date(at).toISOString();
  return {
    id,
    name,
    created_at: time(createdAt),
    last_access: time(lastAccess),
    expires_at: expiresAt === undefined ? null : time(expiresAt),
  };
}

const unitMs = [7 * 86_400_000, 86_400_000, 3_600_000, 60_000, 1_000];
/** A hundred years: a token for longer is one that does not end. */
const longestMs = 100 * 365 * 86_400_000;

/** ISO 8601 of weeks, days, hours, minutes and seconds. */
function lifetimeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const parts = /^P(?=.)(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?=.)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?$/
    .exec(text)
    ?.slice(1);
  const total = parts?.reduce((sum, count: string | undefined, at) => sum + Number(count ?? 0) * (unitMs[at] ?? 0), 0);
  if (total === undefined || total > longestMs)
    throw invalidMembers({
      token_ttl: ['Allowed: an ISO 8601 duration of weeks, days, hours, minutes and seconds, such as P30D.'],
    });
  return total;
}
