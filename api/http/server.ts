/** The HTTP server of the API: everything that holds for all routes. */
import { at } from '../../core/at.js';
import compress from '@fastify/compress';
import cookie from '@fastify/cookie';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyReply, type FastifyRequest, type FastifyServerOptions } from 'fastify';
import type { AddressInfo } from 'node:net';
import type { Server as TlsServer } from 'node:tls';
import { watchCertificateFiles, type CertificateWatch } from '../../core/tls/certificate-watch.js';
import type { ApiOptions } from '../../schemas/config/api.js';
import type { ApiAddress } from '../contract.js';
import { apiErrors } from '../errors.js';
import { acceptable } from './accept.js';
import { createErrorAnswer } from './answer-errors.js';
import { auditHook } from './audit/audit-hook.js';
import { answerClientError } from './client-errors.js';
import type { ApiServer } from './contract.js';
import { failure } from './failure.js';
import { createGuard } from './guard.js';
import { createRouteTable, type RouteTable } from './route-table.js';
import { apiRoutes } from './routes.js';
import type { ApiRoutes, ApiServices } from './services.js';
import { apiTlsOptions } from './tls.js';
import { createSerializerCompiler, createValidatorCompiler } from './validation.js';

export interface ApiHttpServer {
  readonly app: ApiServer;
  readonly table: RouteTable;
  /** Undefined without TLS. */
  readonly certificates: CertificateWatch | undefined;
  /** Rejects with API_PORT_TAKEN or API_ADDRESS_INVALID. */
  start(): Promise<void>;
  address(): ApiAddress;
  /** Takes no new requests; those under way are cut at the deadline. */
  stop(deadlineMs: number): Promise<void>;
}

export interface ApiServerOptions {
  readonly options: ApiOptions;
  readonly services: ApiServices;
  /** Default: all. */
  readonly routes?: readonly ApiRoutes[];
}

/** User names may have 100 characters of 4 bytes, each three characters in a path. */
const maxParameterLength = 1_500;
const maxHeaderBytes = 16 * 1024;
/** Where the answer is shorter, compressing it costs more than it saves. */
const compressedFromBytes = 1_024;
/** Above the 60 s that load balancers keep a connection. */
const keepAliveMs = 72_000;

export async function createApiServer({
  options,
  services,
  routes = apiRoutes,
}: ApiServerOptions): Promise<ApiHttpServer> {
  const errorAnswer = createErrorAnswer(services.log);
  const app = Fastify({
    ...serverOptions(options),
    frameworkErrors: (error, request, reply) =>
      void errorAnswer(error, request as FastifyRequest, reply as FastifyReply),
  }).withTypeProvider<TypeBoxTypeProvider>() as unknown as ApiServer;
  const table = createRouteTable();
  // A body that cannot be read changes nothing for who may not send one.
  app.setErrorHandler((error, request, reply) => errorAnswer(request.refused ?? error, request, reply));
  app.setValidatorCompiler(createValidatorCompiler());
  app.setSerializerCompiler(createSerializerCompiler());
  decorate(app, routes);
  app.addHook('onRoute', (route) => {
    if (route.method !== 'HEAD') table.add(route);
  });
  takeJsonOnly(app);
  await app.register(cookie);
  await app.register(compress, {
    global: true,
    threshold: compressedFromBytes,
    encodings: ['gzip', 'deflate', 'identity'],
    inflateIfDeflated: false,
  });
  app.addHook('onRequest', auditHook(services));
  app.addHook('onRequest', async (_, reply) => void reply.headers(commonHeaders));
  const guard = createGuard(services);
  app.addHook('onRequest', guard.decide);
  app.addHook('onRequest', assertAcceptable);
  app.addHook('preValidation', guard.refuse);
  app.setNotFoundHandler((request) => notFound(table, request));
  for (const register of routes) register(app, services);
  await app.ready();
  const server = app.server;
  server.maxConnections = options.max_connections;
  const { tls } = options;
  const certificates = tls.enabled
    ? watchCertificateFiles(server as unknown as TlsServer, {
        files: tls,
        load: () => apiTlsOptions(tls),
        about: { listener: 'api' },
        log: services.log,
      })
    : undefined;
  return {
    app,
    table,
    certificates,
    start: () => listen(app, options),
    address: () => ({
      host: options.host,
      port: (server.address() as AddressInfo | null)?.port ?? options.port,
      tls: options.tls.enabled,
    }),
    async stop(deadlineMs) {
      certificates?.stop();
      const cut = setTimeout(() => server.closeAllConnections(), deadlineMs);
      await app.close();
      clearTimeout(cut);
    },
  };
}

function decorate(app: ApiServer, routes: readonly ApiRoutes[]): void {
  app.decorate('routeList', routes);
  app.decorateRequest('identity');
  app.decorateRequest('streamId', '');
  app.decorateRequest('audited', null);
  app.decorateRequest('refused', null);
}

function serverOptions(options: ApiOptions): FastifyServerOptions {
  const { tls } = options;
  const https = tls.enabled
    ? { https: { ...apiTlsOptions(tls), maxHeaderSize: maxHeaderBytes } }
    : { http: { maxHeaderSize: maxHeaderBytes } };
  return {
    ...https,
    logger: false,
    bodyLimit: options.max_body_bytes,
    requestTimeout: options.request_timeout_ms,
    keepAliveTimeout: keepAliveMs,
    forceCloseConnections: 'idle',
    trustProxy: options.behind_proxy ? options.trusted_proxies : false,
    routerOptions: { maxParamLength: maxParameterLength, ignoreTrailingSlash: true },
    clientErrorHandler: answerClientError,
  };
}

const commonHeaders = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** JSON under any of its names; an empty body is none. Members named `__proto__` and the like are refused. */
function takeJsonOnly(app: ApiServer): void {
  app.removeAllContentTypeParsers();
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser(
    /^application\/(?:[\w.+-]+\+)?json(?:\s*;|$)/i,
    { parseAs: 'string' },
    (request, body, done) => {
      if (body === '') done(null, undefined);
      else if (isDeep(body as string))
        done(failure('API_VALUE_INVALID', `The body is nested deeper than ${maxDepth} levels.`), undefined);
      else void parse(request, body as string, done);
    },
  );
}

/** Deeper ones exhaust the stack of whoever walks them. */
const maxDepth = 100;

function isDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === 0x5c) index += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return false;
}

async function assertAcceptable(request: FastifyRequest): Promise<void> {
  if (request.is404) return;
  const produced = request.routeOptions.config.produces ?? ['application/json'];
  if (acceptable(request.headers.accept, produced) === undefined)
    throw failure('API_NOT_ACCEPTABLE', `This is answered as ${produced.join(' or ')}.`);
}

function notFound(table: RouteTable, request: FastifyRequest): never {
  const methods = table.methodsOf(at(request.url.split('?'), 0));
  if (methods.length === 0) throw failure('API_NOT_FOUND', 'There is nothing at this path.');
  throw failure('API_METHOD_NOT_ALLOWED', `This path takes ${methods.join(', ')}.`, {
    headers: { allow: methods.join(', ') },
  });
}

async function listen(app: ApiServer, { host, port }: ApiOptions): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? 'API_PORT_TAKEN' : 'API_ADDRESS_INVALID';
    throw apiErrors.create(code, {
      place: `api ${host}:${port}`,
      allowed: 'another api.port or api.host, or api.enabled: false',
      cause: error,
    });
  }
}
