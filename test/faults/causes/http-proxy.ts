/**
 * An HTTP proxy before OpenSearch that misbehaves on request: refuses connections, answers 429, answers a timeout and
 * forwards the request later, cuts the connection after forwarding.
 */
import { once } from 'node:events';
import {
  Agent,
  createServer,
  request as sendRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export type HttpFault =
  /** Answers with this status and an engine's error body; nothing is forwarded. */
  | { readonly kind: 'status'; readonly status: number; readonly type?: string }
  /** Bulks only: every n-th document is answered with 429 and not forwarded. */
  | { readonly kind: 'item_429'; readonly every: number }
  /** Forwarded after this time; answered at once with 504, or never (`silent`), as a hung engine does. */
  | { readonly kind: 'late'; readonly afterMs: number; readonly silent?: boolean }
  /** Forwarded; when the engine has answered the connection is cut instead of answering. `act` comes before that. */
  | { readonly kind: 'cut'; readonly act?: () => void | Promise<void> }
  /** Bulks only: every n-th document is refused for good and not forwarded. */
  | { readonly kind: 'item_refused'; readonly every: number; readonly type: string; readonly reason: string }
  /** Waits here until it is released, then goes its way; tells when it has come. */
  | { readonly kind: 'held'; readonly released: Promise<void>; readonly onHeld: () => void };

interface Injection {
  readonly fault: HttpFault;
  /** How many requests meet it. Default: all until `heal`. */
  readonly times?: number;
  /** Default: bulks. */
  readonly matches?: (method: string, path: string, body: Buffer) => boolean;
}

export interface HttpProxy {
  readonly url: string;
  /** Requests that met a fault so far. */
  readonly faults: number;
  /** Bulk requests that came so far. */
  readonly bulks: number;
  inject(injection: Injection): void;
  /** From now on connections are refused, and those that are open are cut. */
  refuse(): Promise<void>;
  /** Ends every fault; late requests stay on their way. */
  heal(): Promise<void>;
  /** Resolves when every late request has been forwarded and answered, with the engine's statuses and bodies. */
  lateAnswers(): Promise<readonly Answer[]>;
  close(): Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const isBulk = (_method: string, path: string): boolean => /\/_bulk(?:\?|$)/.test(path);

/** A bulk of tombstones (protocol rule 10). */
export const isTombstones = (method: string, path: string, body: Buffer): boolean =>
  isBulk(method, path) && body.includes('\n{"_stub":true}\n');
/** A bulk of documents. */
export const isDocuments = (method: string, path: string, body: Buffer): boolean =>
  isBulk(method, path) && !isTombstones(method, path, body);

/** Listens on `host`, loopback unless another address is named. */
export async function startHttpProxy(target: string, host = '127.0.0.1'): Promise<HttpProxy> {
  const agent = new Agent({ keepAlive: true });
  const sockets = new Set<Socket>();
  const late: Promise<Answer>[] = [];
  const active: { readonly injection: Injection; left: number }[] = [];
  const counts = { faults: 0, bulks: 0 };

  const forward = async (request: IncomingMessage, body: Buffer): Promise<Answer> => {
    const headers = { ...request.headers, 'content-length': String(body.length) };
    const outgoing = sendRequest(new URL(request.url ?? '/', target), { method: request.method, headers, agent });
    outgoing.end(body);
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    return { status: response.statusCode ?? 502, headers: response.headers, body: await bodyOf(response) };
  };
  const takeFault = (request: IncomingMessage, body: Buffer): HttpFault | undefined => {
    const found = active.find(
      ({ injection, left }) => left > 0 && (injection.matches ?? isBulk)(request.method ?? '', request.url ?? '', body),
    );
    if (found === undefined) return undefined;
    found.left -= 1;
    counts.faults += 1;
    return found.injection.fault;
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    if (isBulk('', request.url ?? '')) counts.bulks += 1;
    const fault = takeFault(request, body);
    switch (fault?.kind) {
      case undefined:
        return answer(response, await forward(request, body));
      case 'status':
        return answer(response, errorAnswer(fault.status, fault.type ?? 'circuit_breaking_exception'));
      case 'item_429':
        return answer(response, await forwardSome(body, fault.every, tooMany, (rest) => forward(request, rest)));
      case 'item_refused':
        return answer(
          response,
          await forwardSome(body, fault.every, { status: 400, type: fault.type, reason: fault.reason }, (rest) =>
            forward(request, rest),
          ),
        );
      case 'held':
        fault.onHeld();
        await fault.released;
        return answer(response, await forward(request, body));
      case 'late':
        late.push(after(fault.afterMs).then(() => forward(request, body)));
        return fault.silent === true ? undefined : answer(response, errorAnswer(504, 'timeout_exception'));
      case 'cut':
        await forward(request, body);
        await fault.act?.();
        request.socket.destroy();
    }
  };
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const listen = async (port: number): Promise<number> => {
    server.listen(port, host);
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const refuse = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };

  const port = await listen(0);
  return {
    url: `http://${host}:${port}`,
    get faults() {
      return counts.faults;
    },
    get bulks() {
      return counts.bulks;
    },
    inject(injection) {
      active.push({ injection, left: injection.times ?? Number.POSITIVE_INFINITY });
    },
    refuse,
    async heal() {
      active.length = 0;
      if (!server.listening) await listen(port);
    },
    lateAnswers: () => Promise.all(late),
    async close() {
      await refuse();
      await Promise.allSettled(late);
      agent.destroy();
    },
  };
}

async function bodyOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function after(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

function answer(response: ServerResponse, { status, headers, body }: Answer): void {
  const kept = Object.fromEntries(
    Object.entries(headers).filter(([name]) => name !== 'transfer-encoding' && name !== 'connection'),
  );
  response.writeHead(status, { ...kept, 'content-length': String(body.length) });
  response.end(body);
}

function errorAnswer(status: number, type: string): Answer {
  const body = Buffer.from(JSON.stringify({ error: { type, reason: 'injected by the proxy' }, status }));
  return { status, headers: { 'content-type': 'application/json' }, body };
}

interface ItemRefusal {
  readonly status: number;
  readonly type: string;
  readonly reason: string;
}

const tooMany: ItemRefusal = { status: 429, type: 'rejected_execution_exception', reason: 'injected by the proxy' };

/** A bulk of `create` entries, two lines each. */
async function forwardSome(
  body: Buffer,
  every: number,
  { status, type, reason }: ItemRefusal,
  forward: (rest: Buffer) => Promise<Answer>,
): Promise<Answer> {
  const lines = body.toString().split('\n');
  const count = Math.floor(lines.length / 2);
  const rejected = (entry: number): boolean => entry % every === every - 1;
  const kept = Array.from({ length: count }, (_, entry) => entry).filter((entry) => !rejected(entry));
  const rest = kept.map((entry) => `${lines[entry * 2] ?? ''}\n${lines[entry * 2 + 1] ?? ''}\n`).join('');
  const reply = rest === '' ? errorAnswer(200, '') : await forward(Buffer.from(rest));
  if (reply.status !== 200) return reply;
  const { items } = (rest === '' ? { items: [] } : JSON.parse(reply.body.toString())) as { items: unknown[] };
  const refusal = { create: { status, error: { type, reason } } };
  let next = 0;
  const merged = Array.from({ length: count }, (_, entry) => (rejected(entry) ? refusal : items[next++]));
  return { ...reply, body: Buffer.from(JSON.stringify({ errors: true, items: merged })) };
}
