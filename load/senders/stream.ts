/** NUL-terminated messages over TCP or TLS. Each new connection is a new lane. */
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { once } from 'node:events';
import { loadErrors } from '../errors.js';
import type { Lane, LoadContext, Sender } from '../contract.js';

/** Unwritten bytes of one connection; above it the sender waits, so that what is in flight stays small. */
const maxUnwritten = 512 * 1024;
/** Buffers are written as a whole and used again: large enough to make system calls rare. */
const bufferBytes = 64 * 1024;
/** Most that one turn hands to one connection: buffers are free again only after the turn. */
const maxTurnBytes = 1024 * 1024;
const firstRetryMs = 50;
const lastRetryMs = 1000;

export function createStreamSender(context: LoadContext, transport: 'tcp' | 'tls', port: number): Sender {
  return new StreamSender(context, transport, port);
}

class StreamSender implements Sender {
  readonly #context: LoadContext;
  readonly #transport: 'tcp' | 'tls';
  readonly #port: number;
  /** Buffers that are written and may be filled again. */
  readonly #free: Buffer[] = [];
  #socket: Socket | undefined;
  #lane: Lane | undefined;
  #opened = false;
  #closed = false;
  #retryMs = firstRetryMs;
  #retry: NodeJS.Timeout | undefined;

  constructor(context: LoadContext, transport: 'tcp' | 'tls', port: number) {
    this.#context = context;
    this.#transport = transport;
    this.#port = port;
  }

  async open(): Promise<void> {
    const { host } = this.#context.options;
    const created = this.#dial();
    try {
      await once(created, this.#established);
    } catch (cause) {
      throw loadErrors.create('LOAD_TARGET_UNREACHABLE', { place: `${this.#transport} ${host}:${this.#port}`, cause });
    }
    this.#take(created);
  }

  send(count: number, nowMs: number): number {
    const { counts } = this.#context;
    const socket = this.#socket;
    const lane = this.#lane;
    if (socket === undefined || lane === undefined) return 0;
    let sent = 0;
    let turnBytes = 0;
    while (sent < count && turnBytes < maxTurnBytes && socket.writableLength <= maxUnwritten) {
      const before = lane.sent;
      const bytes = this.#writeBuffer(socket, lane, count - sent, nowMs);
      sent += lane.sent - before;
      counts.bytes += bytes;
      turnBytes += bytes;
    }
    return sent;
  }

  async close(deadlineMs: number): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    const open = this.#socket;
    if (open === undefined) return;
    const timer = setTimeout(() => open.destroy(), deadlineMs);
    open.end();
    if (!open.destroyed) await once(open, 'close').catch(() => undefined);
    clearTimeout(timer);
  }

  get #established(): 'connect' | 'secureConnect' {
    return this.#transport === 'tcp' ? 'connect' : 'secureConnect';
  }

  /** One buffer of at most `count` messages; its length in bytes. */
  #writeBuffer(socket: Socket, lane: Lane, count: number, nowMs: number): number {
    const { generator, write } = this.#context;
    const buffer = this.#free.pop() ?? Buffer.allocUnsafeSlow(Math.max(bufferBytes, generator.largestBytes + 1));
    let end = 0;
    for (let left = count; left > 0 && end + generator.largestBytes < buffer.length; left -= 1) {
      end = generator.write(buffer, end, lane, nowMs);
      buffer[end] = 0;
      end += 1;
      lane.sent += 1;
    }
    const started = performance.now();
    socket.write(buffer.subarray(0, end), () => {
      write.add(performance.now() - started);
      this.#free.push(buffer);
    });
    return end;
  }

  #dial(): Socket {
    const { host, ca } = this.#context.options;
    const port = this.#port;
    const created =
      this.#transport === 'tcp'
        ? connectTcp({ host, port, noDelay: true })
        : connectTls({ host, port, ...(ca === undefined ? { rejectUnauthorized: false } : { ca }) });
    created.on('error', () => undefined);
    created.on('close', () => this.#lost(created));
    created.resume();
    return created;
  }

  #take(created: Socket): void {
    this.#socket = created;
    this.#opened = true;
    this.#lane = this.#context.openLane(this.#transport);
    this.#retryMs = firstRetryMs;
  }

  #lost(gone: Socket): void {
    if (this.#socket === gone) {
      this.#socket = undefined;
      if (!this.#closed) this.#context.counts.reconnects += 1;
    }
    if (this.#closed || !this.#opened) return;
    this.#retry = setTimeout(() => this.#dialAgain(), this.#retryMs);
    this.#retryMs = Math.min(lastRetryMs, this.#retryMs * 2);
  }

  #dialAgain(): void {
    const created = this.#dial();
    created.once(this.#established, () => this.#take(created));
  }
}
