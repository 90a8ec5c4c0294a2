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
  const { generator, counts, options } = context;
  const established = transport === 'tcp' ? 'connect' : 'secureConnect';
  const free: Buffer[] = [];
  let socket: Socket | undefined;
  let lane: Lane | undefined;
  let opened = false;
  let closed = false;
  let retryMs = firstRetryMs;
  let retry: NodeJS.Timeout | undefined;

  const dial = (): Socket => {
    const created =
      transport === 'tcp'
        ? connectTcp({ host: options.host, port, noDelay: true })
        : connectTls({
            host: options.host,
            port,
            ...(options.ca === undefined ? { rejectUnauthorized: false } : { ca: options.ca }),
          });
    created.on('error', () => undefined);
    created.on('close', () => {
      const wasOpen = socket === created;
      if (wasOpen) {
        socket = undefined;
        if (!closed) counts.reconnects += 1;
      }
      if (closed || !opened) return;
      retry = setTimeout(dialAgain, retryMs);
      retryMs = Math.min(lastRetryMs, retryMs * 2);
    });
    created.resume();
    return created;
  };
  const take = (created: Socket): void => {
    socket = created;
    opened = true;
    lane = context.openLane(transport);
    retryMs = firstRetryMs;
  };
  function dialAgain(): void {
    const created = dial();
    created.once(established, () => take(created));
  }

  return {
    async open() {
      const created = dial();
      try {
        await once(created, established);
      } catch (cause) {
        throw loadErrors.create('LOAD_TARGET_UNREACHABLE', { place: `${transport} ${options.host}:${port}`, cause });
      }
      take(created);
    },
    send(count, nowMs) {
      if (socket === undefined || lane === undefined || socket.writableLength > maxUnwritten) return 0;
      let sent = 0;
      let turnBytes = 0;
      while (sent < count && turnBytes < maxTurnBytes && socket.writableLength <= maxUnwritten) {
        const buffer = free.pop() ?? Buffer.allocUnsafeSlow(Math.max(bufferBytes, generator.largestBytes + 1));
        let end = 0;
        while (sent < count && end + generator.largestBytes < buffer.length) {
          end = generator.write(buffer, end, lane.connection, lane.sent, nowMs);
          buffer[end] = 0;
          end += 1;
          lane.sent += 1;
          sent += 1;
        }
        counts.bytes += end;
        turnBytes += end;
        const started = performance.now();
        socket.write(buffer.subarray(0, end), () => {
          context.write.add(performance.now() - started);
          free.push(buffer);
        });
      }
      return sent;
    },
    async close(deadlineMs) {
      closed = true;
      clearTimeout(retry);
      const open = socket;
      if (open === undefined) return;
      const timer = setTimeout(() => open.destroy(), deadlineMs);
      open.end();
      if (!open.destroyed) await once(open, 'close').catch(() => undefined);
      clearTimeout(timer);
    },
  };
}
