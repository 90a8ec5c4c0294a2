/**
 * One TCP connection with frames: reads, cuts them, hands over, and stops reading while too much is not yet accepted.
 */
import type { Socket } from 'node:net';
import type { MessageSink } from '../../schemas/messages.js';
import { diagnose, type Diagnoser } from '../diagnosis.js';
import { receiverErrors } from '../errors.js';
import type { CutFrames, FrameSplitter } from '../frame/splitter.js';
import type { CloseReason, ConnectionCounters, MessageCounters } from '../metrics.js';
import type { InFlight } from './in-flight.js';
import { hasNewlineBetween, type HandedOver, type Intake } from './intake.js';
import { peerAddress, peerText } from './peer.js';
import type { RefusalThrottle } from './refusal-throttle.js';
import type { Backpressure, Waiting } from './backpressure.js';
import type { FairScheduler } from './fair-scheduler.js';

/** What all connections of one receiver share. */
export interface ConnectionParts {
  readonly intake: Intake;
  readonly sink: MessageSink;
  readonly counters: MessageCounters;
  readonly connections: ConnectionCounters;
  readonly diagnoser: Diagnoser;
  readonly backpressure: Backpressure;
  readonly scheduler: FairScheduler;
  readonly refusalThrottle: RefusalThrottle;
  readonly nullDelimiter: boolean;
  readonly maxFrameBytes: number;
  readonly maxUnacceptedBytes: number;
  readonly idleMs: number;
  readonly keepaliveMs: number;
  readonly unfinished: UnfinishedFrames;
  readonly inFlight: InFlight;
  /** Called once, when the socket is closed. */
  readonly onClosed: (connection: Connection) => void;
  /** The pipeline takes no more. */
  readonly onPushFailed: (error: unknown) => void;
}

/** Bytes of frames that have not ended yet, over all connections of a receiver. */
interface UnfinishedFrames {
  bytes: number;
  readonly maxBytes: number;
}

/**
 * A read is taken in pieces of this size, smaller ones from a sender whose input was refused, and no further than this
 * many refusals: no read may hold all others up.
 */
const pieceBytes = 8 * 1024;
const suspectPieceBytes = 256;
const maxRefusalsInRead = 64;

/** A message of very many fields takes the pipeline this many times what it takes the receiver. */
const costlyFactor = 4;

/** Below this a connection is not to blame for the sum. */
const fairShareBytes = 64 * 1024;

/** Filled and emptied within one read, so that all connections can share them. */
const cut: CutFrames = { frames: [], oversize: [] };

export class Connection implements Waiting {
  readonly lane: number;
  readonly peer: string;
  readonly #address: string;
  readonly #socket: Socket;
  readonly #splitter: FrameSplitter;
  readonly #parts: ConnectionParts;
  #unaccepted = 0;
  #handovers = 0;
  #emptyFrames = 0;
  #unfinished = 0;
  #paused = false;
  /** A read that waits for a turn of the event loop with time for it. */
  #deferred: Buffer | undefined;
  /** Some of its last read, or of its address's, was refused. */
  #suspect: boolean;
  /** It is not read before (`performance.now()`). */
  #freeAt = 0;
  /** The first frame decides whether the sender's delimiter and protocol need a look. */
  #sawFrame = false;
  #examined = false;
  #finished = false;
  #reason: CloseReason = 'ended';

  constructor(socket: Socket, lane: number, splitter: FrameSplitter, parts: ConnectionParts) {
    this.lane = lane;
    this.#socket = socket;
    this.#splitter = splitter;
    this.#parts = parts;
    this.peer = peerText(socket.remoteAddress, socket.remotePort);
    this.#address = peerAddress(this.peer);
    this.#suspect = parts.refusalThrottle.holds(this.#address);
    if (parts.keepaliveMs > 0) socket.setKeepAlive(true, parts.keepaliveMs);
    if (parts.idleMs > 0)
      socket.setTimeout(parts.idleMs).on('timeout', () => {
        this.#timedOut();
      });
    socket.on('data', (data: Buffer) => {
      this.#read(data);
    });
    socket.once('end', () => {
      this.#ended();
    });
    socket.on('error', () => {
      if (!this.#finished) this.#reason = 'reset';
    });
    socket.once('close', () => {
      this.#closed();
    });
  }

  /** Takes no more input; what stands without a delimiter is taken as the last frame. */
  stopReading(): void {
    this.#reason = 'stopped';
    this.#socket.removeAllListeners('data');
    this.#socket.pause();
    this.#finish();
  }

  close(reason: CloseReason): void {
    if (this.#socket.destroyed) return;
    this.#reason = reason;
    this.#socket.destroy();
  }

  tryResume(): boolean {
    const gone = this.#socket.destroyed || this.#finished;
    const { maxUnacceptedBytes, sink, connections } = this.#parts;
    if (!gone && (this.#unaccepted > maxUnacceptedBytes / 2 || sink.full() || this.#freeAt > performance.now()))
      return false;
    if (this.#paused) connections.paused(-1);
    this.#paused = false;
    this.#freeAt = 0;
    if (!gone) this.#socket.resume();
    return true;
  }

  #read(data: Buffer): void {
    const { scheduler } = this.#parts;
    if (!scheduler.over(this.#address)) {
      this.#take(data);
      return;
    }
    this.#deferred = data;
    this.#socket.pause();
    scheduler.later(this.#address, data.length, () => {
      this.#takeDeferred();
    });
  }

  #takeDeferred(): void {
    const data = this.#deferred;
    this.#deferred = undefined;
    if (data === undefined) return;
    this.#take(data);
    if (!this.#paused && !this.#socket.destroyed) this.#socket.resume();
  }

  #take(data: Buffer): void {
    const { counters, sink, maxUnacceptedBytes } = this.#parts;
    if (sink.full()) {
      // Back into the socket's buffer: inflating it first could take a thousand times its bytes.
      this.#pause();
      this.#socket.unshift(data);
      return;
    }
    const taken = this.#takePieces(data);
    counters.bytes(taken);
    this.#countUnfinished();
    const rest = taken < data.length ? data.subarray(taken) : undefined;
    if (rest !== undefined || this.#freeAt > 0 || this.#unaccepted > maxUnacceptedBytes || sink.full()) this.#pause();
    if (rest !== undefined && !this.#socket.destroyed) this.#socket.unshift(rest);
  }

  /** How many bytes were taken: all, unless too much of them was refused. */
  #takePieces(data: Buffer): number {
    const { intake } = this.#parts;
    const began = performance.now();
    const piece = this.#suspect ? suspectPieceBytes : pieceBytes;
    let taken = 0;
    while (taken < data.length && intake.refused.count < maxRefusalsInRead) {
      const part = data.subarray(taken, taken + piece);
      this.#splitter.feed(part, cut);
      if (cut.frames.length > 0) this.#sawFrame = true;
      else if (!this.#examined && !this.#sawFrame) this.#examine(part);
      this.#takeFrames();
      taken += part.length;
    }
    this.#charge(began, taken);
    this.#await(intake.flush(this.lane, this.peer));
    return taken;
  }

  /** Time that was spent on what is refused, or costs as much, is what the sender has to wait for. */
  #charge(began: number, taken: number): void {
    const { intake, refusalThrottle } = this.#parts;
    const {
      costlyBytes,
      refused: { count, bytes },
    } = intake;
    this.#suspect = count > 0;
    if (count === 0 && costlyBytes === 0) return;
    const share = Math.min(1, (bytes + count + costlyBytes) / taken);
    const spentMs = (performance.now() - began) * share * (costlyBytes > 0 ? costlyFactor : 1);
    this.#freeAt = refusalThrottle.charge(this.#address, spentMs, count, bytes);
  }

  /** Senders that begin large frames and never end them cannot take more memory than the receiver has for all. */
  #countUnfinished(): void {
    const { unfinished, diagnoser } = this.#parts;
    const waiting = this.#finished ? 0 : this.#splitter.waitingBytes;
    unfinished.bytes += waiting - this.#unfinished;
    this.#unfinished = waiting;
    if (unfinished.bytes <= unfinished.maxBytes || waiting < fairShareBytes) return;
    diagnoser.report('unfinished_frames', this.peer, `${waiting} bytes of one frame`);
    this.close('limit');
  }

  #takeFrames(): void {
    const { intake, counters, diagnoser, maxFrameBytes } = this.#parts;
    const { frames, oversize } = cut;
    for (const frame of frames) intake.take(frame, this.peer);
    frames.length = 0;
    for (const { head, totalBytes } of oversize) {
      diagnoser.report(
        this.#parts.nullDelimiter && hasNewlineBetween(head) ? 'newline_for_null' : 'oversize_frame',
        this.peer,
        `${totalBytes} bytes`,
      );
      const error = receiverErrors.create('FRAME_TOO_LARGE', {
        place: this.peer,
        got: `${totalBytes} bytes`,
        allowed: `${maxFrameBytes} bytes (setting max_frame_bytes)`,
      });
      intake.refuse(error, head, totalBytes, this.peer);
    }
    oversize.length = 0;
    const empty = this.#splitter.emptyFrames;
    if (empty !== this.#emptyFrames) counters.skipped(empty - this.#emptyFrames);
    this.#emptyFrames = empty;
  }

  #await(handed: HandedOver | undefined): void {
    if (handed === undefined) return;
    const { bytes, accepted } = handed;
    this.#unaccepted += bytes;
    this.#handovers += 1;
    this.#parts.inFlight.enter();
    accepted.then(
      () => {
        this.#settled(bytes);
      },
      (error: unknown) => {
        this.#settled(bytes);
        this.#parts.onPushFailed(error);
        this.close('stopped');
      },
    );
  }

  #settled(bytes: number): void {
    this.#unaccepted -= bytes;
    this.#handovers -= 1;
    if (this.#paused && this.tryResume()) this.#parts.backpressure.remove(this);
    this.#parts.inFlight.leave();
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#socket.pause();
    this.#parts.connections.paused(1);
    this.#parts.backpressure.add(this);
  }

  /**
   * The first read without a whole frame may be from a sender that waits for an answer, or that never sends the
   * delimiter.
   */
  #examine(data: Buffer): void {
    this.#examined = true;
    const { diagnoser, nullDelimiter } = this.#parts;
    const found = diagnose(data);
    if (found !== undefined) diagnoser.report(found.name, this.peer, found.got);
    else if (nullDelimiter && hasNewlineBetween(data)) diagnoser.report('newline_for_null', this.peer);
  }

  #timedOut(): void {
    if (this.#paused || this.#handovers > 0) this.#socket.setTimeout(this.#parts.idleMs);
    else this.close('idle');
  }

  #ended(): void {
    this.#finish();
    this.#socket.end();
  }

  /** What stands without a delimiter is the last frame. */
  #finish(): void {
    if (this.#finished) return;
    this.#finished = true;
    const { scheduler, inFlight, counters } = this.#parts;
    const data = this.#deferred;
    this.#deferred = undefined;
    if (data !== undefined) counters.bytes(this.#takePieces(data));
    if (this.#splitter.waitingBytes === 0 || !scheduler.over(this.#address)) {
      this.#takeRest();
      return;
    }
    inFlight.enter();
    scheduler.later(this.#address, this.#splitter.waitingBytes, () => {
      this.#takeRest();
      inFlight.leave();
    });
  }

  #takeRest(): void {
    const { diagnoser, nullDelimiter, intake } = this.#parts;
    this.#splitter.end(cut);
    const rest = cut.frames[0];
    if (nullDelimiter && !this.#sawFrame && rest?.at(-1) === 0x0a) diagnoser.report('newline_for_null', this.peer);
    const began = performance.now();
    this.#takeFrames();
    this.#charge(began, rest?.length ?? 1);
    this.#await(intake.flush(this.lane, this.peer));
  }

  #closed(): void {
    this.#finish();
    this.#countUnfinished();
    this.#parts.backpressure.remove(this);
    this.tryResume();
    this.#parts.connections.closed(this.#reason);
    this.#parts.onClosed(this);
  }
}
