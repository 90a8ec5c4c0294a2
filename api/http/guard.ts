/** Runs before every handler: who asks, whether the request can be forged, and whether the route may be used. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isSluiceError } from '../../core/errors.js';
import { has, mayEditStream, mayReadStream, type Identity } from '../../schemas/access.js';
import type { Permission } from './contract.js';
import { credentialsOf } from './credentials.js';
import { failure, isFailure } from './failure.js';
import type { ApiServices } from './services.js';
import { findStream } from './stream-ids.js';

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

interface Guard {
  /** Before the body is read. */
  readonly decide: Hook;
  /** After it, and before it is looked at: what was decided. */
  readonly refuse: Hook;
}

export function createGuard(services: ApiServices): Guard {
  return {
    async decide(request) {
      if (request.is404) return;
      const permission = request.routeOptions.config.permission ?? 'administrator';
      const identity = await identify(services, request, permission);
      if (identity !== undefined) request.identity = identity;
      else if (permission !== 'public') throw failure('API_UNAUTHENTICATED', 'Credentials are missing or wrong.');
      assertRequestedBy(request);
      if (permission === 'public' || identity === undefined) return;
      try {
        assertPermission(services, request, permission, identity);
      } catch (error) {
        if (!isFailure(error) || !namedByBody(request)) throw error;
        request.refused = error;
      }
    },
    async refuse({ refused }) {
      if (refused !== null) throw refused;
    },
  };
}

/** Only for known users: nobody else makes the program read a body. */
function namedByBody({ method, routeOptions: { config, schema } }: FastifyRequest): boolean {
  return !safeMethods.has(method) && config.audit !== undefined && schema?.body !== undefined;
}

/**
 * On a public route, credentials that are no longer valid count as none: one must be able to log in with a stale
 * cookie.
 */
async function identify(
  { access }: ApiServices,
  request: FastifyRequest,
  permission: Permission,
): Promise<Identity | undefined> {
  const isPublic = permission === 'public';
  try {
    const credentials = credentialsOf(request.headers, request.cookies);
    return credentials === undefined ? undefined : await access.authenticate(credentials, { address: request.ip });
  } catch (error) {
    if (isPublic && isSluiceError(error) && error.code === 'ACCESS_DENIED') return undefined;
    throw error;
  }
}

/** A form on another site cannot set a header, so it cannot change anything in the name of who is logged in here. */
function assertRequestedBy(request: FastifyRequest): void {
  if (safeMethods.has(request.method) || request.headers['x-requested-by'] !== undefined) return;
  throw failure(
    'API_HEADER_INVALID',
    'CSRF protection header is missing. Please add a "X-Requested-By" header to your request.',
  );
}

function assertPermission(
  services: ApiServices,
  request: FastifyRequest,
  permission: Permission,
  identity: Identity,
): void {
  switch (permission) {
    case 'public':
    case 'authenticated':
      return;
    case 'administrator':
      if (!identity.administrator) throw forbidden('an administrator');
      return;
    case 'stream:read':
    case 'stream:edit':
      assertStream(services, request, permission, identity);
      return;
    default:
      if (!has(identity, permission)) throw forbidden(permission);
  }
}

function forbidden(needed: string): Error {
  return failure('API_FORBIDDEN', `Not allowed: this needs ${needed}.`);
}

/** A stream that may not be read is not there. */
function assertStream(
  services: ApiServices,
  request: FastifyRequest,
  permission: 'stream:read' | 'stream:edit',
  identity: Identity,
): void {
  const key = (request.params as { streamId?: string }).streamId ?? '';
  const stream = findStream(services.rules()?.streams ?? [], key) ?? findStream(services.leftOutStreams?.() ?? [], key);
  if (stream === undefined || !mayReadStream(identity.scope, stream.id))
    throw failure('API_NOT_FOUND', 'There is no such stream.');
  if (permission === 'stream:edit' && !mayEditStream(identity, stream.id))
    throw failure('API_STREAM_FORBIDDEN', 'Not allowed: this needs editing of the stream.', {
      body: { streams: [key] },
    });
  request.streamId = stream.id;
}
