/**
 * The control socket: how a command line verb talks to the running program. HTTP over a Unix socket in the data folder, mode
 * 0600; JSON bodies. Who may open the socket may read everything, so it is the only door without a password.
 */
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drained } from '../core/wait.js';
import { isSluiceError, toError } from '../core/errors.js';
import { tellError, toldError, type ToldError } from '../core/process/told-error.js';
import { apiErrors } from './errors.js';

/** sockaddr_un holds 108 bytes with the final NUL. */
const maxSocketPath = 107;
const maxRequestBytes = 1024 * 1024;

/** `control.sock` in the data folder (`control-receiver.sock` of a process that only receives, `control-output.sock` of one that only sends, `control-api.sock` of one that only serves the API, `control-worker-1.sock` of a worker), or in the runtime folder when that path is too long for a socket. */
export function controlSocketPath(
  dataFolder: string,
  runtimeFolder: string | undefined,
  only: boolean | 'output' | 'api' = false,
  worker?: number,
): string {
  const path = join(
    dataFolder,
    `control${only === false ? '' : only === true ? '-receiver' : `-${only}`}${worker === undefined ? '' : `-worker-${worker}`}.sock`,
  );
  if (Buffer.byteLength(path) <= maxSocketPath) return path;
  const name = `sluice-${createHash('sha256').update(path).digest('hex').slice(0, 16)}.sock`;
  return join(runtimeFolder ?? tmpdir(), name);
}

/** Answers one request: returns the JSON answer, or writes lines itself through `line` and returns undefined. */
export type ControlHandler = (
  body: unknown,
  context: { readonly signal: AbortSignal; readonly line: (value: unknown) => Promise<void> },
) => Promise<unknown>;

export interface ControlServer {
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

export interface ControlClient {
  request(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Lines of a streamed answer, one value each. Resolves early when the signal comes. */
  stream(
    method: string,
    path: string,
    body: unknown,
    onLine: (value: unknown) => void | Promise<void>,
    signal?: AbortSignal,
  ): Promise<void>;
}

/** With a time limit, a request that takes longer fails as one that nobody answers. */
export function createControlClient(socketPath: string, timeLimitMs?: number): ControlClient {
  return {
    async request(method, path, body) {
      const response = await call(socketPath, method, path, body, timeLimitMs);
      const text = await textOf(response);
      const answer: unknown = text === '' ? undefined : JSON.parse(text);
      if (response.statusCode !== 200) throw toldError(answer as ToldError);
      return answer;
    },
    async stream(method, path, body, onLine, signal) {
      const response = await call(socketPath, method, path, body);
      if (response.statusCode !== 200) throw toldError(JSON.parse(await textOf(response)) as ToldError);
      const end = (): void => void response.destroy();
      signal?.addEventListener('abort', end);
      let rest = '';
      response.setEncoding('utf8');
      try {
        for await (const chunk of response) {
          const lines = (rest + (chunk as string)).split('\n');
          rest = lines.pop() ?? '';
          for (const text of lines) if (signal?.aborted !== true) await onLine(JSON.parse(text));
        }
      } catch (error) {
        if (signal?.aborted === true) return;
        throw error;
      } finally {
        signal?.removeEventListener('abort', end);
      }
      if (signal?.aborted === true) return;
      if (rest !== '') throw apiErrors.create('API_NOT_RUNNING', { got: 'an answer that broke off' });
    },
  };
}

function call(
  socketPath: string,
  method: string,
  path: string,
  body: unknown,
  timeLimitMs?: number,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const limit = timeLimitMs === undefined ? {} : { signal: AbortSignal.timeout(timeLimitMs) };
    const outgoing = request(
      { socketPath, method, path, headers: { 'content-type': 'application/json' }, ...limit },
      resolve,
    );
    outgoing.on('error', (error) => reject(apiErrors.create('API_NOT_RUNNING', { place: socketPath, cause: error })));
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding('utf8');
  let text = '';
  for await (const chunk of response) text += chunk as string;
  return text;
}
