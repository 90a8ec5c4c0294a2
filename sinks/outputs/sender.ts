/**
 * Brings parcels to one destination in order, at least once. A parcel stays in the window until it is confirmed: by an
 * answer where the protocol has one; else once the connection has been sound for a while after the other side's system
 * had acknowledged its bytes, or once so many bytes were written behind it that no buffer can hold it any more. When a
 * connection breaks, the whole window is sent again on the next.
 */
import { at } from '../../core/at.js';
import { errorText, isSluiceError, toError } from '../../core/errors.js';
import { createRateLimit } from '../../core/log.js';
import { createBackOff } from '../../core/retry/retry.js';
import { pause } from '../../core/wait.js';
import type { Connection, OutputSender, OutputState, Parcel, SenderOptions } from './contract.js';
import { outputErrors } from './errors.js';
import { senderEvents } from './events.js';

/** Parcels taken and not yet written; enough that the wire never waits for the encoder. */
const maxUnwrittenBytes = 512 * 1024;
const retryFirstMs = 500;
/** How often confirmations are looked at while something waits for one. */
const confirmEveryMs = 100;
/** Two looks at the system's queue without progress. */
const standsAfterMs = 600;

interface Waiting {
  readonly parcel: Parcel;
  /** When the system took it (`performance.now()`); 0: not on this connection. */
  writtenAt: number;
  /** Bytes written on this connection up to its end. */
  end: number;
}

export class Sender implements OutputSender {
  readonly #options: SenderOptions;
  readonly #window: Waiting[] = [];
  readonly #stopping = new AbortController();
  readonly #mayLog = createRateLimit(6);
  #position = 0;
  #windowBytes = 0;
  #windowMessages = 0;
  #unwrittenBytes = 0;
  #writing = false;
  #dropBelow = 0;
  #acknowledged = 0;
  #progressAt = 0;
  /** Bytes written on this connection. */
  #written = 0;
  #connection: Connection | undefined;
  #state: OutputState['state'] = 'idle';
  #lastError: string | undefined;
  #lastErrorAt: number | undefined;
  #wake: (() => void) | undefined;
  #roomWaiters: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #failed: Error | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run().catch((error: unknown) => {
      this.#failed = toError(error);
      this.#state = 'stopped';
      this.#note(error);
      this.#options.onStopped(this.#failed);
      this.#signalRoom();
    });
    this.#timer ??= setInterval(() => this.#confirm(), confirmEveryMs).unref();
  }

  state(): OutputState {
    const hangsSince = this.#connection?.hangsSince?.();
    const [lastError, lastErrorAt] =
      hangsSince === undefined
        ? [this.#lastError, this.#lastErrorAt]
        : ['the destination is connected and reads nothing', hangsSince];
    return {
      state: this.#state,
      address: this.#options.link.address,
      lastError,
      lastErrorAt,
      unconfirmedMessages: this.#windowMessages,
      unconfirmedBytes: this.#windowBytes,
    };
  }

  async send(parcel: Parcel): Promise<boolean> {
    while (!this.#hasRoom()) {
      if (this.#stopping.signal.aborted || this.#failed !== undefined) break;
      await new Promise<void>((resolve) => this.#roomWaiters.push(resolve));
    }
    if (this.#failed !== undefined) throw this.#failed;
    if (this.#stopping.signal.aborted)
      throw outputErrors.create('OUTPUT_STOPPED', { place: this.#options.link.address });
    if (parcel.nextOffset <= this.#dropBelow) {
      if (this.#window.length === 0) this.#options.onConfirmed(parcel.nextOffset, 0, 0);
      else
        this.#window.push({
          parcel: { parts: [], bytes: 0, messages: 0, nextOffset: parcel.nextOffset },
          writtenAt: 0,
          end: 0,
        });
      return false;
    }
    this.#window.push({ parcel, writtenAt: 0, end: 0 });
    this.#windowBytes += parcel.bytes;
    this.#windowMessages += parcel.messages;
    this.#unwrittenBytes += parcel.bytes;
    this.#wake?.();
    return true;
  }

  drop(below: number): number {
    this.#dropBelow = Math.max(this.#dropBelow, below);
    const first = this.#position + (this.#writing ? 1 : 0);
    let count = 0;
    let bytes = 0;
    let messages = 0;
    for (
      let next = this.#window[first];
      next !== undefined && next.parcel.nextOffset <= below;
      next = this.#window[first + count]
    ) {
      bytes += next.parcel.bytes;
      messages += next.parcel.messages;
      count += 1;
    }
    const dropped = this.#window.splice(first, count);
    this.#windowBytes -= bytes;
    this.#unwrittenBytes -= bytes;
    this.#windowMessages -= messages;
    if (first === 0 && dropped.length > 0)
      this.#options.onConfirmed(at(dropped, dropped.length - 1).parcel.nextOffset, 0, 0);
    if (this.#hasRoom()) this.#signalRoom();
    return messages;
  }

  async stop(deadlineMs: number): Promise<void> {
    if (this.#stopping.signal.aborted) {
      await this.#running;
      return;
    }
    const connection = this.#connection;
    this.#stopping.abort();
    this.#signalRoom();
    this.#wake?.();
    if (connection !== undefined && this.#position > 0) {
      const proven = await connection.finish(deadlineMs).catch(() => false);
      // While the connection ended, the timer may have confirmed all of it.
      if (proven && this.#position > 0) this.#confirmFirst(this.#position);
      else this.#confirm();
    }
    connection?.destroy();
    clearInterval(this.#timer);
    await this.#running;
    if (this.#state !== 'stopped') this.#state = 'idle';
  }

  #hasRoom(): boolean {
    return (
      this.#unwrittenBytes < maxUnwrittenBytes && this.#windowBytes < this.#options.unconfirmedBytes + maxUnwrittenBytes
    );
  }

  #signalRoom(): void {
    const waiters = this.#roomWaiters;
    this.#roomWaiters = [];
    for (const wake of waiters) wake();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let backOff = createBackOff(retryFirstMs, this.#options.retryMostMs);
    while (!signal.aborted) {
      if (this.#window.length === 0) {
        this.#state = this.#lastError === undefined ? 'idle' : this.#state;
        await this.#untilWoken();
        continue;
      }
      const before = this.#window[0];
      try {
        this.#state = 'connecting';
        this.#connection = await this.#options.link.connect(signal);
        this.#state = 'connected';
        await this.#drive(this.#connection);
      } catch (error) {
        if (signal.aborted) return;
        if (isSluiceError(error) && !error.retryable) throw error;
        this.#note(error);
        this.#options.onFailed();
      } finally {
        if (!signal.aborted) this.#disconnect();
      }
      if (this.#window.length === 0) continue;
      // Whoever confirmed something works; who never does is left alone for longer and longer.
      if (this.#window[0] !== before) backOff = createBackOff(retryFirstMs, this.#options.retryMostMs);
      this.#state = 'waiting';
      await pause(backOff(), signal);
    }
  }

  /** Writes until the connection breaks or has been idle for long enough. */
  async #drive(connection: Connection): Promise<void> {
    const { signal } = this.#stopping;
    let broken: Error | undefined;
    void connection.broken.then((error) => {
      broken = error;
      if (this.#connection === connection) this.#wake?.();
    });
    while (!signal.aborted) {
      if (broken !== undefined) throw toError(broken);
      const next = this.#window[this.#position];
      if (next === undefined) {
        const woken = await this.#untilWoken(this.#options.idleTimeoutMs);
        if (!woken && this.#window.length === 0) {
          await connection.finish(this.#options.confirmAfterMs).catch(() => false);
          return;
        }
        continue;
      }
      await this.#writeNext(connection, next);
      if (this.#hasRoom()) this.#signalRoom();
    }
  }

  async #writeNext(connection: Connection, next: Waiting): Promise<void> {
    this.#writing = true;
    try {
      const answer = next.parcel.parts.length === 0 ? undefined : await connection.write(next.parcel);
      if (this.#stopping.signal.aborted && answer?.answered !== true) return;
      this.#lastError = undefined;
      this.#position += 1;
      this.#written += next.parcel.bytes;
      this.#unwrittenBytes -= next.parcel.bytes;
      next.writtenAt = performance.now();
      next.end = this.#written;
      if (answer?.answered === true) this.#confirmFirst(1, answer.refused, answer.reason);
      else this.#confirmBySize();
    } finally {
      this.#writing = false;
    }
  }

  #disconnect(): void {
    this.#connection?.destroy();
    this.#connection = undefined;
    for (let index = 0; index < this.#position; index += 1) {
      const waiting = at(this.#window, index);
      waiting.writtenAt = 0;
      this.#unwrittenBytes += waiting.parcel.bytes;
    }
    this.#position = 0;
    this.#written = 0;
  }

  /** What has so much behind it on this connection that no buffer on the way can hold it. */
  #confirmBySize(): void {
    let count = 0;
    let bytes = 0;
    while (count < this.#position && this.#written - at(this.#window, count).end >= this.#options.unconfirmedBytes) {
      bytes += at(this.#window, count).parcel.bytes;
      count += 1;
    }
    if (bytes > 0) this.#confirmFirst(count);
  }

  /** What the other side's system acknowledged and that left long enough ago. */
  #confirm(): void {
    if (this.#position === 0 || this.#connection === undefined) return;
    const until = performance.now() - this.#options.confirmAfterMs;
    const first = at(this.#window, 0);
    if (first.writtenAt > until) return;
    const unacknowledged = this.#connection.unacknowledged() ?? 0;
    if (this.#stands(unacknowledged)) return;
    let count = 0;
    while (count < this.#position) {
      const { writtenAt, end } = at(this.#window, count);
      if (writtenAt > until || end > this.#written - unacknowledged) break;
      count += 1;
    }
    if (count > 0) this.#confirmFirst(count);
  }

  /**
   * A destination that stopped reading has a full buffer behind it: what lies there is lost when it is killed, although
   * its system has acknowledged it.
   */
  #stands(unacknowledged: number): boolean {
    const acknowledged = this.#written - unacknowledged;
    if (acknowledged !== this.#acknowledged || unacknowledged === 0) {
      this.#acknowledged = acknowledged;
      this.#progressAt = performance.now();
    }
    return performance.now() - this.#progressAt > standsAfterMs;
  }

  #confirmFirst(count: number, refused = 0, reason?: string): void {
    const done = this.#window.splice(0, count);
    this.#position -= count;
    let messages = 0;
    for (const { parcel } of done) {
      messages += parcel.messages;
      this.#windowBytes -= parcel.bytes;
    }
    this.#windowMessages -= messages;
    if (reason !== undefined) this.#note(new Error(reason));
    this.#options.onConfirmed(at(done, done.length - 1).parcel.nextOffset, messages - refused, refused);
    if (this.#hasRoom()) this.#signalRoom();
  }

  #note(error: unknown): void {
    this.#lastError = errorText(error);
    this.#lastErrorAt = Date.now();
    const { allowed, suppressed } = this.#mayLog('failed');
    if (allowed)
      senderEvents.outputTroubled(this.#options.log, {
        output: this.#options.link.address,
        error: this.#lastError,
        suppressed,
      });
  }

  /** True when there is something to do, false after the time (0: never). */
  #untilWoken(milliseconds = 0): Promise<boolean> {
    if (this.#window.length > this.#position || this.#stopping.signal.aborted) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = milliseconds > 0 ? setTimeout(() => done(false), milliseconds) : undefined;
      const done = (woken: boolean): void => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve(woken);
      };
      this.#wake = () => done(true);
    });
  }
}
