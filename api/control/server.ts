/**
 * The control socket: how a command line verb talks to the running program. HTTP over a Unix socket in the data folder,
 * mode
 * 0600; JSON bodies. Who may open the socket may read everything, so it is the only way in without a password.
 */
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { isSluiceError, toError } from '../../core/errors.js';
import { tellError } from '../../core/process/told-error.js';
import { drained } from '../../core/wait.js';
import { apiErrors } from '../errors.js';
import type { ControlHandler } from './contract.js';

const maxRequestBytes = 1024 * 1024;

interface ControlServer {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Answers what no route does, itself. */
export type ControlForward = (incoming: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Routes by `METHOD /path`. */
export function createControlServer(
  path: string,
  routes: Readonly<Record<string, ControlHandler>>,
  forward?: ControlForward,
): ControlServer {
  const server = createServer((incoming, response) => {
    const served =
      forward === undefined || `${incoming.method} ${incoming.url}` in routes
        ? serve(routes, incoming, response)
        : forward(incoming, response);
    void served.catch((error: unknown) => fail(response, error));
  });
  return {
    async start() {
      if (existsSync(path) && !(await answers(path))) rmSync(path, { force: true });
      await listen(server, path);
      chmodSync(path, 0o600);
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(apiErrors.create('API_SOCKET_UNUSABLE', { place: path, cause: error })));
    const mask = process.umask(0o177);
    // Exclusive: a worker's socket is its own, not shared by its primary process.
    server.listen({ path, exclusive: true }, () => resolve());
    process.umask(mask);
  });
}

async function serve(
  routes: Readonly<Record<string, ControlHandler>>,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const handler = routes[`${incoming.method} ${incoming.url}`];
  if (handler === undefined)
    throw apiErrors.create('API_REQUEST_INVALID', {
      got: `${incoming.method} ${incoming.url}`,
      allowed: Object.keys(routes).join(', '),
    });
  const body = await readBody(incoming);
  const aborted = new AbortController();
  response.on('close', () => aborted.abort());
  const line = async (value: unknown): Promise<void> => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    if (!response.write(`${JSON.stringify(value)}\n`)) await drained(response);
  };
  const answer = await handler(body, { signal: aborted.signal, line });
  if (response.headersSent) response.end();
  else if (answer === undefined) response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end();
  else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
}

async function readBody(incoming: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxRequestBytes) throw apiErrors.create('API_REQUEST_INVALID', { got: 'a body over 1 MiB' });
    chunks.push(chunk as Buffer);
  }
  if (bytes === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (error) {
    throw apiErrors.create('API_REQUEST_INVALID', { got: 'a body that is not JSON', cause: error });
  }
}

function fail(response: ServerResponse, thrown: unknown): void {
  const error = toError(thrown);
  const body = JSON.stringify(tellError(error));
  if (response.headersSent) response.destroy(error);
  else
    response
      .writeHead(isSluiceError(error) && !error.retryable ? 400 : 500, { 'content-type': 'application/json' })
      .end(body);
}
