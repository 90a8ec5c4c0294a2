/** GELF over HTTP and HTTPS: POST /gelf, answered when the topic has the messages. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { DropArgument, Socket } from 'node:net';
import { Type, type Static } from 'typebox';
import type { CertificateWatch } from '../core/tls/certificate-watch.js';
import { errorText, isSluiceError, type SluiceError } from '../core/errors.js';
import { buildMetrics } from '../core/metrics.js';
import { bytes, count, flag, milliseconds, secret, serverTls } from '../schemas/config/common.js';
import { listenSettings, maxConnectionsPerAddress, timestampSetting } from '../schemas/config/receivers.js';
import type { Receiver } from './contract.js';
import { defineReceiver } from './define.js';
import { createDiagnoser, type Diagnoser } from './diagnosis.js';
import { compressionOf } from './inflate/contract.js';
import { limitConnections } from './listen/address-limit.js';
import { listenOn, type BoundAddress } from './listen/bind.js';
import type { ReceiverContext } from './listen/context.js';
import { withinDeadline } from '../core/time/deadline.js';
import { listenErrors } from './listen/errors.js';
import {
  checkRequest,
  corsHeaders,
  errorAnswer,
  preflightAnswer,
  rawAnswer,
  sendAnswer,
  type Answer,
} from './listen/http-answer.js';
import {
  bodyTooLarge,
  createBodyBudget,
  encodingsOf,
  readBody,
  splitBody,
  tooLargeByHeader,
  type BodyBudget,
  type BodyParts,
} from './listen/http-body.js';
import { createMessageTaker, type MessageTaker } from './listen/http-messages.js';
import { createInFlight } from './listen/in-flight.js';
import { peerText } from './listen/peer.js';
import { certificateProblem, handshakeDiagnosis, tlsOptions, watchCertificates } from './listen/tls.js';
import {
  createConnectionCounters,
  createMessageCounters,
  receiverMetrics,
  type CloseReason,
  type ConnectionCounters,
  type MessageCounters,
} from './metrics.js';
import { receiverEvents } from './events.js';

/** A header takes one packet or two; a body of 8 MiB passes a slow line in this time. */
const headersTimeoutMs = 20_000;
const requestTimeoutMs = 120_000;
/** How often both are looked at. */
const checkTimeoutsMs = 5_000;
/** Bodies of the largest size that may be in memory at the same time; further requests are answered 429. */
const largestBodiesInMemory = 16;

const settings = Type.Object(
  {
    type: Type.Literal('gelf_http'),
    ...listenSettings('gelf-http', 12202),
    max_body_bytes: bytes('Largest request body after inflation; larger: 413.', 8 * 2 ** 20),
    max_connections: count('Connections at the same time.', 10_000, 1),
    max_connections_per_address: maxConnectionsPerAddress,
    idle_ms: milliseconds('Closes a kept-alive connection without a request for this long.', 60_000),
    token: secret('When set, requests need Authorization: Bearer <token>.'),
    cors: flag('Answer CORS requests from browsers.', false),
    timestamp: timestampSetting,
    tls: serverTls,
  },
  { additionalProperties: false },
);
type GelfHttpOptions = Static<typeof settings>;

export const gelfHttp = defineReceiver({
  type: 'gelf_http',
  title: 'GELF HTTP',
  transport: 'tcp',
  byDefault: true,
  settings,
  messageLimit: 'max_body_bytes',
  create: (options, context) => new GelfHttpReceiver(options, context),
});

class GelfHttpReceiver implements Receiver {
  readonly name: string;
  readonly #options: GelfHttpOptions;
  readonly #context: ReceiverContext;
  readonly #diagnoser: Diagnoser;
  readonly #counters: MessageCounters;
  readonly #connections: ConnectionCounters;
  readonly #taker: MessageTaker;
  readonly #budget: BodyBudget;
  readonly #bodyParts: BodyParts;
  readonly #answered: (status: number) => void;
  /** Requests in progress by socket: nothing else may be written to these. */
  readonly #busy = new Map<Socket, number>();
  readonly #failedHandshakes = new Set<string>();
  #server: Server | undefined;
  #bound: BoundAddress | undefined;
  #certificates: CertificateWatch | undefined;
  #stopping = false;
  readonly #inFlight = createInFlight();

  constructor(options: GelfHttpOptions, context: ReceiverContext) {
    this.name = options.name;
    this.#options = options;
    this.#context = context;
    this.#diagnoser = createDiagnoser(options.name, context.log, context.registry, context.now);
    this.#counters = createMessageCounters(context.registry, options.name);
    this.#connections = createConnectionCounters(context.registry, options.name);
    this.#taker = createMessageTaker(options.name, context, this.#counters, this.#diagnoser);
    this.#budget = createBodyBudget(largestBodiesInMemory * options.max_body_bytes);
    const { inflater, checker } = context;
    this.#bodyParts = { maxBytes: options.max_body_bytes, inflater, checker };
    const requests = buildMetrics(context.registry, receiverMetrics).requestsAnswered;
    this.#answered = (status) => {
      requests.labels({ receiver: options.name, status: String(status) }).inc();
    };
  }

  async start(): Promise<void> {
    const { host, port, tls, max_connections } = this.#options;
    const server = this.#createServer();
    server.maxConnections = max_connections;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      void this.#answer(request, response, false);
    });
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      void this.#answer(request, response, true);
    });
    server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Socket) => {
      this.#badRequest(error, socket);
    });
    server.on('connection', (socket: Socket) => {
      this.#opened(socket);
    });
    limitConnections(server, this.#options.max_connections_per_address, (peer) => {
      this.#tooMany(peer);
    });
    server.on('drop', (dropped?: DropArgument) => {
      this.#dropped(peerText(dropped?.remoteAddress, dropped?.remotePort));
    });
    this.#bound = await listenOn(server, this.name, host, port);
    server.on('error', (error) => {
      receiverEvents.receiverFailed(
        this.#context.log,
        { receiver: this.name, error: errorText(error) },
        'Connections cannot be accepted.',
      );
    });
    this.#server = server;
    if (tls.enabled) this.#certificates = watchCertificates(server as HttpsServer, this.name, tls, this.#context.log);
  }

  address(): ReturnType<Receiver['address']> {
    const { host, port } = this.#bound ?? this.#options;
    return { protocol: 'gelf-http', host, port, tls: this.#options.tls.enabled };
  }

  async stop(deadlineMs: number): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    this.#stopping = true;
    this.#certificates?.stop();
    server.close();
    server.closeIdleConnections();
    await withinDeadline(this.#inFlight.drained(), deadlineMs);
    server.closeAllConnections();
  }

  #createServer(): Server {
    const { idle_ms, tls } = this.#options;
    const timeouts = {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: idle_ms,
      connectionsCheckingInterval: checkTimeoutsMs,
    };
    if (!tls.enabled) return createServer(timeouts);
    const server = createHttpsServer({ ...tlsOptions(this.name, tls), rejectUnauthorized: false, ...timeouts });
    server.on('tlsClientError', (error, socket) => {
      this.#handshakeFailed(error, socket);
    });
    // Before the HTTP parser's own listener: it must not see a byte of a refused client.
    server.prependListener('secureConnection', (socket) => {
      const problem = certificateProblem(socket, tls);
      if (problem !== undefined) this.#refuseCertificate(socket, problem);
    });
    return server;
  }

  /** In flight twice: until its messages are accepted, and until the answer has left or the sender is gone. */
  async #answer(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): Promise<void> {
    const { socket } = request;
    this.#busy.set(socket, (this.#busy.get(socket) ?? 0) + 1);
    response.once('close', () => {
      this.#finished(socket, response);
    });
    this.#inFlight.enter();
    this.#inFlight.enter();
    const answer = await this.#answerFor(request, response, expectsContinue).catch((error: unknown) =>
      this.#failed(error),
    );
    this.#inFlight.leave();
    const headers = this.#options.cors ? { ...answer.headers, ...corsHeaders(request) } : (answer.headers ?? {});
    sendAnswer(response, { ...answer, headers: this.#stopping ? { ...headers, Connection: 'close' } : headers });
    if (!request.complete) request.resume();
  }

  #failed(error: unknown): Answer {
    receiverEvents.requestFailed(this.#context.log, { receiver: this.name, error: errorText(error) });
    return errorAnswer(listenErrors.create('RECEIVER_FAILED'));
  }

  #finished(socket: Socket, response: ServerResponse): void {
    if (response.headersSent) this.#answered(response.statusCode);
    const left = (this.#busy.get(socket) ?? 1) - 1;
    if (left > 0) this.#busy.set(socket, left);
    else this.#busy.delete(socket);
    this.#inFlight.leave();
  }

  async #answerFor(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): Promise<Answer> {
    const { cors, token, max_body_bytes } = this.#options;
    if (cors && request.method === 'OPTIONS') return preflightAnswer(request);
    const encodings = encodingsOf(request);
    const problem =
      checkRequest(request, token) ??
      this.#busyError() ??
      (isSluiceError(encodings) ? encodings : undefined) ??
      (tooLargeByHeader(request, max_body_bytes) ? bodyTooLarge(max_body_bytes) : undefined);
    if (problem !== undefined || isSluiceError(encodings))
      return errorAnswer(problem ?? listenErrors.create('RECEIVER_REQUEST_INVALID'));
    if (expectsContinue) response.writeContinue();
    const bytes = await readBody(request, max_body_bytes, this.#budget, this.#counters.bytes);
    if (isSluiceError(bytes)) return errorAnswer(bytes);
    const peer = peerText(request.socket.remoteAddress, request.socket.remotePort);
    const body = splitBody(bytes, encodings, this.#bodyParts);
    return isSluiceError(body) ? this.#refuseBody(body, bytes, peer) : this.#taker.take(body, peer);
  }

  /** A body that is no message at all still arrived: it counts as one refused message when the answer is 400. */
  #refuseBody(error: SluiceError, bytes: Buffer, peer: string): Answer {
    const answer = errorAnswer(error);
    if (answer.status !== 400) return answer;
    this.#counters.received(1);
    this.#counters.refused(1);
    this.#diagnoser.examine(bytes, peer);
    return answer;
  }

  #busyError(): SluiceError | undefined {
    if (this.#stopping) return listenErrors.create('RECEIVER_STOPPING');
    return this.#context.sink.full() ? listenErrors.create('RECEIVER_FULL') : undefined;
  }

  #badRequest(error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket: Socket): void {
    const peer = peerText(socket.remoteAddress, socket.remotePort);
    const packet = error.rawPacket ?? Buffer.alloc(0);
    if (looksLikeGelf(packet)) this.#diagnoser.report('gelf_on_http_port', peer);
    else this.#diagnoser.examine(packet, peer);
    // Other answers that are still to come on this connection must not be mixed with this one; a body that is too slow
    // is the only one.
    const allowed = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 1 : 0;
    if (error.code === 'ECONNRESET' || !socket.writable || (this.#busy.get(socket) ?? 0) > allowed) {
      socket.destroy();
      return;
    }
    const answer = listenErrors.create(badRequestCodes[error.code ?? ''] ?? 'RECEIVER_REQUEST_INVALID', {
      got: error.code,
    });
    this.#answered(errorAnswer(answer).status);
    socket.end(rawAnswer(answer), () => {
      socket.destroy();
    });
  }

  #opened(socket: Socket): void {
    this.#connections.opened();
    const peer = peerText(socket.remoteAddress, socket.remotePort);
    let reset = false;
    socket.once('error', () => {
      reset = true;
    });
    socket.once('close', () => {
      this.#connections.closed(this.#closeReason(peer, reset));
    });
  }

  #closeReason(peer: string, reset: boolean): CloseReason {
    if (this.#failedHandshakes.delete(peer)) return 'tls_failed';
    if (reset) return 'reset';
    return this.#stopping ? 'stopped' : 'ended';
  }

  #dropped(peer: string): void {
    this.#connections.opened();
    this.#connections.closed('limit');
    this.#diagnoser.report('too_many_connections', peer, `more than ${this.#options.max_connections}`);
  }

  #tooMany(peer: string): void {
    this.#connections.opened();
    this.#connections.closed('address_limit');
    this.#diagnoser.report('too_many_from_address', peer, `more than ${this.#options.max_connections_per_address}`);
  }

  #refuseCertificate(socket: Socket, problem: string): void {
    const peer = peerText(socket.remoteAddress, socket.remotePort);
    this.#diagnoser.report('tls_handshake_failed', peer, problem);
    this.#failedHandshakes.add(peer);
    socket.destroy();
  }

  #handshakeFailed(error: Error, socket: Socket): void {
    const peer = peerText(socket.remoteAddress, socket.remotePort);
    const found = handshakeDiagnosis(error);
    if (found !== undefined) this.#diagnoser.report(found.name, peer, found.got);
    if (socket.remoteAddress !== undefined) this.#failedHandshakes.add(peer);
    socket.destroy();
  }
}

const badRequestCodes: Readonly<Record<string, 'RECEIVER_HEADER_TOO_LARGE' | 'RECEIVER_REQUEST_TIMEOUT'>> = {
  HPE_HEADER_OVERFLOW: 'RECEIVER_HEADER_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'RECEIVER_REQUEST_TIMEOUT',
};

function looksLikeGelf(bytes: Buffer): boolean {
  const compression = compressionOf(bytes);
  return bytes[0] === 0x7b || compression === 'gzip' || compression === 'zlib' || compression === 'chunk';
}
