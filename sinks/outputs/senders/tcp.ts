/**
 * TCP to a destination, with TLS where asked for: one connection, kept; every address tried; silence in either
 * direction noticed.
 */
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { at } from '../../../core/at.js';
import { errorText, isSluiceError, toError } from '../../../core/errors.js';
import type { OutputTls } from '../../../schemas/outputs/output.js';
import type { Connection, Link, Parcel, WriteAnswer } from '../contract.js';
import { outputErrors } from '../errors.js';
import { assertNotOwn, createResolver, type Address, type LookUp, type OwnListener } from './addresses.js';
import { watchKernelQueue, type KernelLook } from './kernel-queue.js';
import { clientTlsOptions, isTlsError, type Files } from './tls.js';

export interface TcpLinkOptions {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly tls: OutputTls;
  readonly files: Files;
  readonly connectTimeoutMs: number;
  readonly writeTimeoutMs: number;
  /** For a destination whose system answers while its program reads nothing. */
  readonly hangTimeoutMs: number;
  readonly listeners: () => readonly OwnListener[];
  readonly lookUp?: LookUp | undefined;
}

/**
 * Idle connections are probed by the system, so that a firewall does not forget them and a vanished host is noticed.
 */
const keepAliveMs = 30_000;
/** Between two acknowledgements nothing is acknowledged, without anybody hanging. */
const hangShownAfterMs = 1_000;
const notAnswered: WriteAnswer = { answered: false };

export interface Opener {
  readonly address: string;
  /** One round over all addresses. */
  open(signal: AbortSignal): Promise<Socket>;
}

export function createOpener(options: TcpLinkOptions): Opener {
  const { host, port, tls } = options;
  const address = `${options.name} ${tls.enabled ? 'tls' : 'tcp'} ${host.includes(':') ? `[${host}]` : host}:${port}`;
  const resolve = createResolver(host, options.lookUp);
  return {
    address,
    async open(signal) {
      const secure = tls.enabled ? await clientTlsOptions(tls, host, options.files) : undefined;
      const failures: string[] = [];
      for (const candidate of await resolve()) {
        if (signal.aborted) break;
        assertNotOwn({ address: candidate.address, port, transport: 'tcp' }, options.listeners());
        try {
          return await openSocket(candidate, options, secure, signal);
        } catch (error) {
          if (isSluiceError(error)) throw error;
          if (isTlsError(error))
            throw outputErrors.create('OUTPUT_TLS_REFUSED', { place: address, got: errorText(error), cause: error });
          failures.push(`${candidate.address}: ${errorText(error)}`);
        }
      }
      throw outputErrors.create('OUTPUT_UNREACHABLE', { place: address, got: failures.join('; ') || 'no attempt' });
    },
  };
}

export function createTcpLink(options: TcpLinkOptions): Link {
  const { address, open } = createOpener(options);
  return { address, connect: async (signal) => new TcpConnection(await open(signal), address, options) };
}

function openSocket(
  { address, family }: Address,
  { port, connectTimeoutMs }: TcpLinkOptions,
  secure: ConnectionOptions | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket: Socket =
      secure === undefined
        ? connectTcp({ host: address, port, family })
        : connectTls({ ...secure, host: address, port });
    const settle = (error: Error | undefined): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.removeListener('error', settle);
      if (error === undefined) return resolve(socket);
      socket.on('error', () => undefined).destroy();
      reject(error);
    };
    const onAbort = (): void => settle(outputErrors.create('OUTPUT_STOPPED'));
    const timer = setTimeout(() => settle(new Error(`no connection within ${connectTimeoutMs} ms`)), connectTimeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('error', settle).once(secure === undefined ? 'connect' : 'secureConnect', () => settle(undefined));
  });
}

class TcpConnection implements Connection {
  readonly broken: Promise<Error>;
  readonly #socket: Socket;
  readonly #place: string;
  readonly #options: Pick<TcpLinkOptions, 'writeTimeoutMs' | 'hangTimeoutMs'>;
  readonly #unwatch: () => void;
  #break: (error: Error) => void = () => undefined;
  #error: Error | undefined;
  #rejectWrite: ((error: Error) => void) | undefined;
  #finishing = false;
  #written = 0;
  /** Bytes written as the look at the kernel's queue began. */
  #writtenBefore = 0;
  #acknowledged: number | undefined;
  #progressAt = performance.now();
  /** When it was last seen to hang. */
  #hungAt = Number.NEGATIVE_INFINITY;
  readonly #timer: NodeJS.Timeout;

  constructor(socket: Socket, place: string, options: Pick<TcpLinkOptions, 'writeTimeoutMs' | 'hangTimeoutMs'>) {
    this.#socket = socket;
    this.#place = place;
    this.#options = options;
    this.broken = new Promise((resolve) => {
      this.#break = resolve;
    });
    socket.setNoDelay(true).setKeepAlive(true, keepAliveMs);
    socket.on('error', (error) =>
      this.#end(
        isTlsError(error)
          ? outputErrors.create('OUTPUT_TLS_REFUSED', { place, got: errorText(error), cause: error })
          : outputErrors.create('OUTPUT_CLOSED', { place, got: errorText(error), cause: error }),
      ),
    );
    socket.on('end', () => {
      if (!this.#finishing)
        this.#end(outputErrors.create('OUTPUT_CLOSED', { place, got: 'its end of the connection' }));
    });
    socket.on('close', () => this.#end(outputErrors.create('OUTPUT_CLOSED', { place })));
    // Whatever a destination says is read and passed over, or its end would never be seen.
    socket.resume();
    this.#unwatch = watchKernelQueue(socket.localPort ?? 0, socket.remotePort ?? 0, {
      before: () => {
        this.#writtenBefore = this.#written;
      },
      after: (look) => this.#observe(look),
    });
    // Judged right after a look, since a process that was busy for long has not looked for long either; this is for
    // systems without looks.
    this.#timer = setInterval(
      () => this.#checkProgress(this.#acknowledged === undefined ? 1 : 2),
      Math.min(1_000, options.writeTimeoutMs / 4),
    ).unref();
  }

  write(parcel: Parcel): Promise<WriteAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#error !== undefined) return reject(this.#error);
      if (this.#written === (this.#acknowledged ?? this.#written)) this.#progressAt = performance.now();
      this.#rejectWrite = reject;
      this.#socket.write(at(parcel.parts, 0), (error) => {
        this.#rejectWrite = undefined;
        if (error !== undefined && error !== null) return reject(this.#error ?? toError(error));
        this.#written += parcel.bytes;
        this.#progressAt = performance.now();
        resolve(notAnswered);
      });
    });
  }

  unacknowledged(): number | undefined {
    return this.#acknowledged === undefined ? undefined : this.#written - this.#acknowledged;
  }

  hangsSince(): number | undefined {
    return this.#hungAt > this.#progressAt + hangShownAfterMs
      ? Math.round(Date.now() - (performance.now() - this.#progressAt))
      : undefined;
  }

  finish(deadlineMs: number): Promise<boolean> {
    this.#finishing = true;
    if (this.#error !== undefined) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), deadlineMs);
      const settle = (proven: boolean): void => {
        clearTimeout(timer);
        resolve(proven);
      };
      // A destination that closes without having read everything resets the connection instead.
      this.#socket
        .once('end', () => settle(true))
        .once('error', () => settle(false))
        .once('close', () => settle(false));
      this.#socket.end();
    });
  }

  destroy(): void {
    this.#end(outputErrors.create('OUTPUT_STOPPED', { place: this.#place }));
  }

  #observe({ unacknowledged, hangs }: KernelLook): void {
    if (hangs) this.#hungAt = performance.now();
    const acknowledged = Math.max(this.#acknowledged ?? 0, this.#writtenBefore - unacknowledged);
    if (acknowledged > (this.#acknowledged ?? -1) || acknowledged === this.#written)
      this.#progressAt = performance.now();
    this.#acknowledged = acknowledged;
    this.#checkProgress(1);
  }

  /**
   * A write that hangs, or bytes that nobody acknowledges. While the other side's system answers, a second connection
   * would help nobody: its program would read both in any order, and what was acknowledged and not read yet could come
   * behind what follows it.
   */
  #checkProgress(times: number): void {
    const { writeTimeoutMs, hangTimeoutMs } = this.#options;
    const pending = this.#rejectWrite !== undefined || (this.unacknowledged() ?? 0) > 0;
    const now = performance.now();
    const timeoutMs = now - this.#hungAt < writeTimeoutMs ? Math.max(writeTimeoutMs, hangTimeoutMs) : writeTimeoutMs;
    if (!pending || now - this.#progressAt < timeoutMs * times) return;
    this.#end(
      outputErrors.create('OUTPUT_TIMED_OUT', {
        place: this.#place,
        got: `nothing taken for ${Math.round(now - this.#progressAt)} ms`,
      }),
    );
  }

  #end(error: Error): void {
    if (this.#error !== undefined) return;
    this.#error = error;
    clearInterval(this.#timer);
    this.#unwatch();
    this.#socket.destroy();
    this.#rejectWrite?.(error);
    this.#rejectWrite = undefined;
    this.#break(error);
  }
}
