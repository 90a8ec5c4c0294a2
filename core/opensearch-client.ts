/** One way to talk to OpenSearch: plain requests with a deadline, an abort signal and errors of one shape. */
import { readFileSync } from 'node:fs';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { Client, ClientOptions, Connection } from '@opensearch-project/opensearch';

type Library = typeof import('@opensearch-project/opensearch');
/** Loaded at the first use: 20 MiB that a program on embedded engines does not need. */
const loadLibrary = (): Library => createRequire(import.meta.url)('@opensearch-project/opensearch') as Library;

interface OpenSearchTls {
  readonly enabled: boolean;
  readonly ca_file: string;
  readonly cert_file: string;
  readonly key_file: string;
  readonly reject_unauthorized: boolean;
}

export interface OpenSearchConnection {
  /** `http(s)://host:port`. */
  readonly nodes: readonly string[];
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly tls?: OpenSearchTls | undefined;
  readonly requestTimeoutMs: number;
}

export interface OpenSearchRequest {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE' | 'HEAD';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean>> | undefined;
  readonly body?: object | string | undefined;
  /** Newline-delimited body, sent as it is. */
  readonly bulkBody?: Buffer | string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface OpenSearchReply {
  readonly status: number;
  readonly body: unknown;
}

/** The request brought no answer: refused, cut, timed out. Whether it was applied is unknown. */
export class OpenSearchNoAnswer extends Error {
  readonly aborted: boolean;

  constructor(message: string, aborted: boolean, cause: unknown) {
    super(message, { cause });
    this.name = 'OpenSearchNoAnswer';
    this.aborted = aborted;
  }
}

export interface OpenSearchClient {
  /** Resolves with every answer, whatever its status; rejects with OpenSearchNoAnswer. Never repeats a request. */
  request(request: OpenSearchRequest): Promise<OpenSearchReply>;
  close(): Promise<void>;
}

/** The library writes a line to standard output for each connection that breaks in the middle of a reply. */
function quietConnection(library: Library): typeof Connection {
  return class QuietConnection extends library.Connection {
    override request(
      params: Parameters<Connection['request']>[0],
      callback: (error: Error | null, response: IncomingMessage | null) => void,
    ): ClientRequest {
      const request: ClientRequest = super.request(params, (error, response) => {
        if (error === null) {
          request.removeAllListeners('error');
          request.on('error', () => {});
        }
        callback(error, response);
      });
      return request;
    }
  };
}

function tlsOptions(tls: OpenSearchTls | undefined): NonNullable<ClientOptions['ssl']> | undefined {
  if (tls?.enabled !== true) return undefined;
  const read = (file: string) => (file === '' ? undefined : readFileSync(file));
  return {
    ca: read(tls.ca_file),
    cert: read(tls.cert_file),
    key: read(tls.key_file),
    rejectUnauthorized: tls.reject_unauthorized,
  };
}

export function createOpenSearchClient(options: OpenSearchConnection): OpenSearchClient {
  const ssl = tlsOptions(options.tls);
  const library = loadLibrary();
  const client = new library.Client({
    nodes: [...options.nodes],
    ...(options.username === undefined || options.username === ''
      ? {}
      : { auth: { username: options.username, password: options.password ?? '' } }),
    ...(ssl === undefined ? {} : { ssl }),
    maxRetries: 0,
    requestTimeout: options.requestTimeoutMs,
    Connection: quietConnection(library),
  });
  return {
    request: (request) => send(client, request, request.timeoutMs ?? options.requestTimeoutMs),
    close: () => client.close(),
  };
}

/** The library's own timeout ends when the head of a reply has come; this one covers the whole reply. */
async function send(client: Client, request: OpenSearchRequest, timeoutMs: number): Promise<OpenSearchReply> {
  if (isAborted(request.signal))
    throw new OpenSearchNoAnswer('The request was cancelled.', true, request.signal?.reason);
  let late = false;
  const pending = client.transport.request(
    {
      method: request.method,
      path: request.path,
      ...(request.query === undefined ? {} : { querystring: request.query }),
      ...(request.body === undefined ? {} : { body: request.body }),
      ...(request.bulkBody === undefined ? {} : { bulkBody: request.bulkBody }),
    },
    { requestTimeout: timeoutMs + 1_000 },
  );
  // Returns nothing: a listener's promise that rejects ends the process.
  const abort = (): void => void pending.abort();
  const timer = setTimeout(() => {
    late = true;
    abort();
  }, timeoutMs);
  request.signal?.addEventListener('abort', abort, { once: true });
  try {
    const reply = await pending;
    return { status: reply.statusCode ?? 0, body: reply.body };
  } catch (thrown) {
    return answerOf(thrown, isAborted(request.signal), late ? `no whole answer within ${timeoutMs} ms` : undefined);
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener('abort', abort);
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function answerOf(thrown: unknown, aborted: boolean, reason: string | undefined): OpenSearchReply {
  const error = thrown as { name?: string; message?: string; meta?: { statusCode?: number | null; body?: unknown } };
  if (error.name === 'ResponseError' && typeof error.meta?.statusCode === 'number')
    return { status: error.meta.statusCode, body: error.meta.body };
  throw new OpenSearchNoAnswer(reason ?? error.message ?? 'no answer', aborted, thrown);
}

export interface OpenSearchFault {
  readonly type: string;
  readonly reason: string;
  readonly index?: string | undefined;
}

/** The error in a reply's body, flattened: type and reason of the error and of its causes. */
export function faultOf(reply: OpenSearchReply): OpenSearchFault {
  const error = (reply.body as { error?: unknown } | null)?.error;
  if (typeof error !== 'object' || error === null)
    return {
      type: 'unknown',
      reason: `status ${reply.status}: ${String(typeof reply.body === 'string' ? reply.body : error).slice(0, 300)}`,
    };
  return flatFault(error);
}

export function flatFault(error: object): OpenSearchFault {
  const {
    type,
    reason,
    index,
    caused_by: cause,
  } = error as { type?: string; reason?: string; index?: string; caused_by?: object };
  const inner = cause === undefined ? undefined : flatFault(cause).reason;
  return {
    type: type ?? 'unknown',
    reason: inner === undefined || (reason ?? '').includes(inner) ? (reason ?? '') : `${reason ?? ''}: ${inner}`,
    index,
  };
}
