/**
 * How a resource joins the API: one file with its routes, schema, permission and handler together; one line in
 * `routes.ts`.
 */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Capability, Identity } from '../../schemas/access.js';
import type { Audited } from './audited.js';

export type ApiServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/**
 * Every route declares one; the server refuses to start with a route that has none.
 * `public`: no credentials needed. `authenticated`: anybody who is known; the handler looks at `request.identity` for
 * the rest. A capability or `administrator`: checked before the handler. `stream:*`: the path parameter `streamId` (24
 * hexadecimal characters or the id of the rule files) is looked up and checked; a stream that may not be read answers
 * 404 as one that is not there.
 */
export type Permission = 'public' | 'authenticated' | 'administrator' | Capability | 'stream:read' | 'stream:edit';

declare module 'fastify' {
  interface FastifyInstance {
    /** Every resource of this server. */
    readonly routeList: readonly ((app: ApiServer, services: never) => void)[];
  }
  interface FastifyContextConfig {
    permission?: Permission;
    /** What the handler looks at beyond the permission, in words, for the reference of roles. */
    checks?: string;
    /**
     * Name of the audit event, `<object>:<action>` in words of small letters joined by `_`; every route that changes
     * something or shows stored messages declares one.
     */
    audit?: string;
    /**
     * What the record says unless the handler has said it. Asked of refused requests too: query string and body are as
     * they came.
     */
    audited?: (request: FastifyRequest) => Audited;
    /** Set on a POST that changes nothing and need not be recorded, such as a check of a query text. */
    reads?: true;
    /** Media types that this route can answer with; default: JSON only. */
    produces?: readonly string[];
  }
  interface FastifyRequest {
    /** Set for every route but public ones, and for those when credentials came. */
    identity: Identity;
    /** The id that the rule files know, for `stream:*` permissions. */
    streamId: string;
    /** What the audit record says beside actor, address, action and outcome; handlers may set it. */
    audited: Audited | null;
    /**
     * Why the guard does not let it through; thrown when the body was read, so that the record can name what was
     * refused.
     */
    refused: Error | null;
  }
}

/** `{ type, message }` of every error body; more keys by kind. */
export interface ErrorBody {
  readonly type: 'ApiError' | 'RequestError' | 'ValidationApiError' | 'MissingStreamPermission';
  readonly message: string;
}
