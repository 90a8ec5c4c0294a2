/**
 * GELF over UDP: datagrams of one turn of the event loop become one batch, chunks are joined, and every drop is
 * counted.
 */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { Type, type Static } from 'typebox';
import { errorText, isSluiceError, type SluiceError } from '../core/errors.js';
import { buildMetrics } from '../core/metrics.js';
import { bytes, count, milliseconds } from '../schemas/config/common.js';
import { listenSettings, maxInflatedBytes, timestampSetting } from '../schemas/config/receivers.js';
import type { Receiver } from './contract.js';
import { defineReceiver } from './define.js';
import { createDiagnoser, type Diagnoser } from './diagnosis.js';
import { createChunkAssembler, type ChunkAssembler } from './frame/chunks.js';
import { addressFamily, bindSocket, canShareUdpPort, type BoundAddress } from './listen/bind.js';
import { createChunkMeters } from './listen/chunk-meters.js';
import type { ReceiverContext } from './listen/context.js';
import { withinDeadline } from '../core/time/deadline.js';
import { createInFlight } from './listen/in-flight.js';
import { Intake } from './listen/intake.js';
import { ownSocketInode, readKernelDrops } from './listen/kernel-drops.js';
import { peerText } from './listen/peer.js';
import { createMessageCounters, receiverMetrics, type MessageCounters } from './metrics.js';
import { receiverEvents } from './events.js';

/**
 * A batch is handed over at this size at the latest: inflated datagrams may be a thousand times what came, and fill the
 * pipeline within one turn.
 */
const maxBatchMessages = 1000;
const maxBatchBytes = 2 ** 20;
/** How often old chunk sets are looked for, and the kernel is asked for its drops. */
const tickMs = 1000;

const settings = Type.Object(
  {
    type: Type.Literal('gelf_udp'),
    ...listenSettings('gelf-udp', 12201),
    receive_buffer_bytes: bytes('Kernel receive buffer asked for; what was granted is logged.', 8 * 2 ** 20),
    max_inflated_bytes: maxInflatedBytes,
    chunk_timeout_ms: milliseconds('How long an incomplete chunk set is kept.', 5_000),
    max_chunk_sets: count('Incomplete chunk sets at the same time.', 4_096, 1),
    max_chunk_bytes: bytes('Memory of all incomplete chunk sets.', 128 * 2 ** 20),
    timestamp: timestampSetting,
  },
  { additionalProperties: false },
);
type GelfUdpOptions = Static<typeof settings>;

export const gelfUdp = defineReceiver({
  type: 'gelf_udp',
  title: 'GELF UDP',
  transport: 'udp',
  byDefault: true,
  settings,
  messageLimit: 'max_inflated_bytes',
  graylogSettings: { recv_buffer_size: 'receive_buffer_bytes' },
  // Each worker has a socket of its own where the kernel divides senders among them.
  runsInEveryWorker: ({ port }) => port !== 0 && canShareUdpPort(),
  create: (options, context) => new GelfUdpReceiver(options, context),
});

class GelfUdpReceiver implements Receiver {
  readonly name: string;
  readonly #options: GelfUdpOptions;
  readonly #context: ReceiverContext;
  readonly #diagnoser: Diagnoser;
  readonly #counters: MessageCounters;
  readonly #intake: Intake;
  readonly #chunks: ChunkAssembler;
  readonly #metrics;
  readonly #meterChunks: () => void;
  readonly #inFlight = createInFlight();
  #socket: Socket | undefined;
  #bound: BoundAddress | undefined;
  #timer: NodeJS.Timeout | undefined;
  #flushPlanned = false;
  #datagrams = 0;
  #bytes = 0;
  #shed = 0;
  #kernelDrops: number | undefined;
  #inode: string | undefined;

  constructor(options: GelfUdpOptions, context: ReceiverContext) {
    this.name = options.name;
    this.#options = options;
    this.#context = context;
    this.#diagnoser = createDiagnoser(options.name, context.log, context.registry, context.now);
    this.#counters = createMessageCounters(context.registry, options.name);
    this.#intake = new Intake({
      receiver: options.name,
      context,
      counters: this.#counters,
      diagnoser: this.#diagnoser,
      maxInflatedBytes: options.max_inflated_bytes,
      nullDelimiter: false,
      manyPeers: true,
    });
    this.#chunks = createChunkAssembler(
      { maxSets: options.max_chunk_sets, maxBytes: options.max_chunk_bytes, timeoutMs: options.chunk_timeout_ms },
      context.now,
    );
    const metrics = buildMetrics(context.registry, receiverMetrics);
    const labels = { receiver: options.name };
    this.#metrics = {
      datagrams: metrics.datagramsReceived.labels(labels),
      dropped: metrics.datagramsDropped.labels(labels),
      buffer: metrics.receiveBufferBytes.labels(labels),
    };
    this.#metrics.dropped.inc(0);
    this.#meterChunks = createChunkMeters(context.registry, options.name, this.#chunks.counters);
  }

  async start(): Promise<void> {
    const { host, port } = this.#options;
    const shared = this.#context.sharesPorts === true && port !== 0 && canShareUdpPort();
    const socket = createSocket({
      type: addressFamily(host) === 6 ? 'udp6' : 'udp4',
      ...(shared ? { reusePort: true } : {}),
    });
    try {
      this.#bound = await bindSocket(socket, this.name, host, port);
    } catch (error) {
      socket.close();
      throw error;
    }
    socket.on('error', (error) => {
      receiverEvents.receiverFailed(
        this.#context.log,
        { receiver: this.name, error: errorText(error) },
        'The UDP socket reported an error.',
      );
    });
    this.#askForBuffer(socket);
    this.#inode = shared ? ownSocketInode(this.#bound.host, this.#bound.port) : undefined;
    this.#kernelDrops = this.#dropsNow();
    if (this.#kernelDrops === undefined) receiverEvents.kernelDropsUnknown(this.#context.log, { receiver: this.name });
    socket.on('message', (datagram, remote) => {
      this.#take(datagram, remote);
    });
    this.#timer = setInterval(() => {
      this.#tick();
    }, tickMs);
    this.#socket = socket;
  }

  address(): ReturnType<Receiver['address']> {
    const { host, port } = this.#bound ?? this.#options;
    return { protocol: 'gelf-udp', host, port, tls: false };
  }

  async stop(deadlineMs: number): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined) return;
    this.#socket = undefined;
    clearInterval(this.#timer);
    socket.removeAllListeners('message');
    this.#readKernelDrops();
    socket.close();
    this.#flush();
    this.#meterChunks();
    await withinDeadline(this.#inFlight.drained(), deadlineMs);
  }

  #take(datagram: Buffer, remote: RemoteInfo): void {
    this.#datagrams += 1;
    this.#bytes += datagram.length;
    const peer = peerText(remote.address, remote.port);
    if (datagram[0] === 0x1e && datagram[1] === 0x0f) {
      const joined = this.#chunks.add(datagram, peer);
      if (joined !== undefined) this.#takeJoined(joined, datagram, peer);
    } else if (this.#context.sink.full()) {
      this.#drop(peer);
    } else {
      this.#intake.take(datagram, peer);
    }
    if (this.#intake.size >= maxBatchMessages || this.#intake.bytes >= maxBatchBytes) {
      this.#flush();
    } else if (!this.#flushPlanned) {
      this.#flushPlanned = true;
      setImmediate(this.#flush);
    }
  }

  #takeJoined(joined: Buffer | SluiceError | undefined, datagram: Buffer, peer: string): void {
    if (isSluiceError(joined)) this.#intake.refuse(joined, datagram, datagram.length, peer);
    else if (this.#context.sink.full()) this.#drop(peer);
    else if (joined !== undefined) this.#intake.take(joined, peer);
  }

  #drop(peer: string): void {
    this.#shed += 1;
    this.#context.sink.shed?.(this.name, peer);
  }

  readonly #flush = (): void => {
    this.#flushPlanned = false;
    this.#metrics.datagrams.inc(this.#datagrams);
    this.#counters.bytes(this.#bytes);
    if (this.#shed > 0) {
      this.#counters.received(this.#shed);
      this.#counters.shed(this.#shed);
    }
    this.#datagrams = 0;
    this.#bytes = 0;
    this.#shed = 0;
    const accepted = this.#intake.flush(undefined, '')?.accepted;
    if (accepted === undefined) return;
    this.#inFlight.enter();
    accepted.then(
      () => {
        this.#inFlight.leave();
      },
      (error: unknown) => {
        this.#inFlight.leave();
        receiverEvents.pushFailed(
          this.#context.log,
          { receiver: this.name, error: errorText(error) },
          'The pipeline took no more; the messages of this batch are lost.',
        );
      },
    );
  };

  #tick(): void {
    for (const { error, peer, head, bytes } of this.#chunks.expire()) {
      this.#diagnoser.report('chunks_incomplete', peer, error.got);
      this.#intake.refuse(error, head, bytes, peer);
    }
    this.#flush();
    this.#meterChunks();
    this.#readKernelDrops();
  }

  #readKernelDrops(): void {
    if (this.#kernelDrops === undefined || this.#bound === undefined) return;
    const drops = this.#dropsNow();
    if (drops === undefined) return;
    if (drops > this.#kernelDrops) this.#metrics.dropped.inc(drops - this.#kernelDrops);
    this.#kernelDrops = drops;
  }

  #dropsNow(): number | undefined {
    return this.#bound === undefined
      ? undefined
      : readKernelDrops(this.#bound.host, this.#bound.port, undefined, this.#inode);
  }

  #askForBuffer(socket: Socket): void {
    const asked = this.#options.receive_buffer_bytes;
    try {
      socket.setRecvBufferSize(asked);
    } catch (error) {
      receiverEvents.receiveBufferRefused(this.#context.log, { receiver: this.name, asked, error: errorText(error) });
    }
    const granted = grantedBytes(socket);
    this.#metrics.buffer.set(granted);
    const facts = { receiver: this.name, asked, granted };
    if (granted < asked) receiverEvents.receiveBufferShort(this.#context.log, facts, String(granted), String(asked));
    else receiverEvents.receiveBufferGranted(this.#context.log, facts, String(granted));
  }
}

/** Linux reports twice what may be used, for its own bookkeeping (socket(7), SO_RCVBUF). */
function grantedBytes(socket: Socket): number {
  const reported = socket.getRecvBufferSize();
  return process.platform === 'linux' ? reported / 2 : reported;
}
