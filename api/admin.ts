/** Metrics and health over HTTP, on loopback by default: GET /metrics, /health/live, /health/ready. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Registry } from '../core/metrics.js';
import { toError } from '../core/errors.js';
import type { HealthReport } from './contract.js';
import { apiErrors } from './errors.js';

interface AdminOptions {
  readonly host: string;
  readonly port: number;
  readonly live: () => HealthReport;
  readonly ready: () => Promise<HealthReport>;
  /** All metrics as they are now, in the text format of Prometheus. */
  readonly metrics: () => Promise<string>;
}

interface AdminServer {
  start(): Promise<void>;
  port(): number;
  stop(): Promise<void>;
}

export function createAdminServer(options: AdminOptions): AdminServer {
  const server = createServer((request, response) => {
    void answer(options, request, response).catch((error: unknown) =>
      send(response, 500, 'application/json', JSON.stringify({ type: 'INTERNAL', message: toError(error).message })),
    );
  });
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;
  server.maxConnections = 100;
  return {
    start: () => listen(server, options),
    port: () => (server.address() as AddressInfo | null)?.port ?? options.port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, { host, port }: AdminOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const code = error.code === 'EADDRINUSE' ? 'API_PORT_TAKEN' : 'API_ADDRESS_INVALID';
      reject(
        apiErrors.create(code, {
          place: `admin ${host}:${port}`,
          allowed: 'another admin.port or admin.host',
          cause: error,
        }),
      );
    });
    server.listen(port, host, () => resolve());
  });
}

async function answer(options: AdminOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? '/').split('?')[0];
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    send(
      response,
      405,
      'application/json',
      JSON.stringify({ type: 'METHOD_NOT_ALLOWED', message: 'Only GET and HEAD are served here.' }),
    );
  } else if (path === '/metrics') {
    send(response, 200, Registry.PROMETHEUS_CONTENT_TYPE, await options.metrics());
  } else if (path === '/health/live') report(response, options.live());
  else if (path === '/health/ready') report(response, await options.ready());
  else
    send(
      response,
      404,
      'application/json',
      JSON.stringify({ type: 'NOT_FOUND', message: 'Here are /metrics, /health/live and /health/ready.' }),
    );
}

function report(response: ServerResponse, health: HealthReport): void {
  send(
    response,
    health.ok ? 200 : 503,
    'application/json',
    `${JSON.stringify({ status: health.ok ? 'ok' : 'failing', checks: health.checks })}\n`,
  );
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  if (response.headersSent) return;
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
