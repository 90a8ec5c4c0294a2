/**
 * GELF over TCP and TLS: frames end with NUL (or newline), the receiver never writes, and reads no faster than the
 * topic takes.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer, type TLSSocket } from 'node:tls';
import { Type, type Static } from 'typebox';
import type { CertificateWatch } from '../core/tls/certificate-watch.js';
import { errorText } from '../core/errors.js';
import { bytes, count, milliseconds, serverTls } from '../schemas/config/common.js';
import {
  listenSettings,
  maxConnectionsPerAddress,
  maxInflatedBytes,
  timestampSetting,
} from '../schemas/config/receivers.js';
import type { Receiver } from './contract.js';
import { defineReceiver } from './define.js';
import { createDiagnoser, type Diagnoser } from './diagnosis.js';
import { createFrameSplitter } from './frame/splitter.js';
import { limitConnections } from './listen/address-limit.js';
import { listenOn, type BoundAddress } from './listen/bind.js';
import { Connection, type ConnectionParts } from './listen/connection.js';
import type { ReceiverContext } from './listen/context.js';
import { withinDeadline } from '../core/time/deadline.js';
import { createInFlight } from './listen/in-flight.js';
import { Intake } from './listen/intake.js';
import { peerText } from './listen/peer.js';
import { createRefusalThrottle } from './listen/refusal-throttle.js';
import { createBackpressure } from './listen/backpressure.js';
import { createFairScheduler } from './listen/fair-scheduler.js';
import { certificateProblem, handshakeDiagnosis, tlsOptions, watchCertificates } from './listen/tls.js';
import { createConnectionCounters, createMessageCounters, type ConnectionCounters } from './metrics.js';
import { receiverEvents } from './events.js';

/** One read of libuv takes 64 KiB at most; a larger mark would only let more pile up while reading is stopped. */
const readBytes = 64 * 1024;

/** Memory for frames that have not ended, over all connections: 128 senders in the middle of the largest frame. */
const maxUnfinishedBytes = 256 * 2 ** 20;

const settings = Type.Object(
  {
    type: Type.Literal('gelf_tcp'),
    ...listenSettings('gelf-tcp', 12201),
    framing: Type.Union([Type.Literal('null'), Type.Literal('newline')], {
      description: 'What ends a frame: a NUL byte, or a newline (a carriage return before it is dropped).',
      default: 'null',
    }),
    max_frame_bytes: bytes('Largest frame; a larger one is skipped up to its delimiter.', 2 * 2 ** 20),
    max_inflated_bytes: maxInflatedBytes,
    max_connections: count('Connections at the same time; further ones are closed at once and counted.', 10_000, 1),
    max_connections_per_address: maxConnectionsPerAddress,
    max_connection_bytes: bytes('Unaccepted bytes of one connection; reading stops above it.', 4 * 2 ** 20),
    keepalive_ms: milliseconds('Delay before TCP keep-alive probes; 0: off.', 60_000),
    idle_ms: milliseconds('Closes a connection that sent nothing for this long; 0: never.', 0),
    timestamp: timestampSetting,
    tls: serverTls,
  },
  { additionalProperties: false },
);
export type GelfTcpOptions = Static<typeof settings>;

export const gelfTcp = defineReceiver({
  type: 'gelf_tcp',
  title: 'GELF TCP',
  transport: 'tcp',
  byDefault: true,
  settings,
  messageLimit: 'max_inflated_bytes',
  graylogSettings: {
    use_null_delimiter: (value) => ({ name: 'framing', value: value === false ? 'newline' : 'null' }),
    tcp_keepalive: (value) => (value === false ? { name: 'keepalive_ms', value: 0 } : undefined),
  },
  warnings: ({ max_connection_bytes, max_frame_bytes }) =>
    max_connection_bytes < max_frame_bytes
      ? ['max_connection_bytes is below max_frame_bytes: each large frame stops reading.']
      : [],
  create: (options, context) => createGelfTcpReceiver(options, context),
});

/** `unfinishedBytes`: of frames that have not ended, over all connections. */
export function createGelfTcpReceiver(
  options: GelfTcpOptions,
  context: ReceiverContext,
  unfinishedBytes = maxUnfinishedBytes,
): Receiver {
  return new GelfTcpReceiver(options, context, unfinishedBytes);
}

class GelfTcpReceiver implements Receiver {
  readonly name: string;
  readonly #options: GelfTcpOptions;
  readonly #context: ReceiverContext;
  readonly #diagnoser: Diagnoser;
  readonly #counters: ConnectionCounters;
  readonly #parts: ConnectionParts;
  readonly #open = new Set<Connection>();
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #bound: BoundAddress | undefined;
  #certificates: CertificateWatch | undefined;
  #lanes = 0;

  constructor(options: GelfTcpOptions, context: ReceiverContext, unfinishedBytes: number) {
    this.name = options.name;
    this.#options = options;
    this.#context = context;
    this.#diagnoser = createDiagnoser(options.name, context.log, context.registry, context.now);
    this.#counters = createConnectionCounters(context.registry, options.name);
    const counters = createMessageCounters(context.registry, options.name);
    const nullDelimiter = options.framing === 'null';
    this.#parts = {
      intake: new Intake({
        receiver: options.name,
        context,
        counters,
        diagnoser: this.#diagnoser,
        maxInflatedBytes: options.max_inflated_bytes,
        nullDelimiter,
        manyPeers: false,
      }),
      sink: context.sink,
      counters,
      connections: this.#counters,
      diagnoser: this.#diagnoser,
      backpressure: createBackpressure(),
      scheduler: createFairScheduler(),
      refusalThrottle: createRefusalThrottle(),
      nullDelimiter,
      maxFrameBytes: options.max_frame_bytes,
      maxUnacceptedBytes: options.max_connection_bytes,
      idleMs: options.idle_ms,
      keepaliveMs: options.keepalive_ms,
      inFlight: createInFlight(),
      unfinished: { bytes: 0, maxBytes: Math.max(unfinishedBytes, 2 * options.max_frame_bytes) },
      onClosed: (connection) => {
        this.#open.delete(connection);
      },
      onPushFailed: (error) => {
        receiverEvents.pushFailed(
          context.log,
          { receiver: options.name, error: errorText(error) },
          'The pipeline took no more; the connection is closed.',
        );
      },
    };
  }

  async start(): Promise<void> {
    const { host, port, tls } = this.#options;
    const server = tls.enabled ? this.#createTls() : this.#createPlain();
    server.maxConnections = this.#options.max_connections;
    server.on('connection', (socket) => {
      this.#counters.opened();
      this.#sockets.add(socket);
      socket.once('close', () => {
        this.#sockets.delete(socket);
      });
    });
    limitConnections(server, this.#options.max_connections_per_address, (peer) => {
      this.#tooMany(peer);
    });
    server.on('drop', (dropped) => {
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
    if (tls.enabled) this.#certificates = watchCertificates(server as TlsServer, this.name, tls, this.#context.log);
  }

  address(): ReturnType<Receiver['address']> {
    const { host, port } = this.#bound ?? this.#options;
    return { protocol: 'gelf-tcp', host, port, tls: this.#options.tls.enabled };
  }

  async stop(deadlineMs: number): Promise<void> {
    this.#server?.close();
    this.#server = undefined;
    this.#certificates?.stop();
    const connections = [...this.#open];
    for (const connection of connections) connection.stopReading();
    this.#parts.scheduler.stop();
    await withinDeadline(this.#parts.inFlight.drained(), deadlineMs);
    for (const connection of connections) connection.close('stopped');
    for (const socket of this.#sockets) socket.destroy();
    this.#parts.backpressure.stop();
  }

  #createPlain(): Server {
    return createServer({ allowHalfOpen: true, highWaterMark: readBytes }, (socket) => {
      this.#serve(socket);
    });
  }

  #createTls(): Server {
    const { tls } = this.#options;
    const server = createTlsServer({
      ...tlsOptions(this.name, tls),
      rejectUnauthorized: false,
      highWaterMark: readBytes,
    });
    server.on('secureConnection', (socket) => {
      const problem = certificateProblem(socket, tls);
      if (problem === undefined) this.#serve(socket);
      else this.#refuseCertificate(socket, problem);
    });
    server.on('tlsClientError', (error, socket) => {
      this.#handshakeFailed(error, socket);
    });
    return server;
  }

  #serve(socket: Socket): void {
    const { framing, max_frame_bytes } = this.#options;
    this.#lanes += 1;
    const splitter = createFrameSplitter({ delimiter: framing, maxFrameBytes: max_frame_bytes });
    this.#open.add(new Connection(socket, this.#lanes, splitter, this.#parts));
  }

  #dropped(peer: string): void {
    this.#counters.opened();
    this.#counters.closed('limit');
    this.#diagnoser.report('too_many_connections', peer, `more than ${this.#options.max_connections}`);
  }

  #tooMany(peer: string): void {
    this.#counters.opened();
    this.#counters.closed('address_limit');
    this.#diagnoser.report('too_many_from_address', peer, `more than ${this.#options.max_connections_per_address}`);
  }

  #refuseCertificate(socket: TLSSocket, problem: string): void {
    this.#diagnoser.report('tls_handshake_failed', peerText(socket.remoteAddress, socket.remotePort), problem);
    this.#counters.closed('tls_failed');
    socket.on('error', ignore);
    socket.destroy();
  }

  #handshakeFailed(thrown: Error, socket: TLSSocket): void {
    const found = handshakeDiagnosis(thrown);
    if (found !== undefined)
      this.#diagnoser.report(found.name, peerText(socket.remoteAddress, socket.remotePort), found.got);
    this.#counters.closed('tls_failed');
    socket.on('error', ignore);
    socket.destroy();
  }
}

/** An error of a socket that is being destroyed anyway. */
function ignore(): void {}
