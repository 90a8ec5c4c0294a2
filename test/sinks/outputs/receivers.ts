/** Destinations for the tests: what came is kept as it came, and each can misbehave. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

interface Teardown {
  teardown(action: () => Promise<void> | void): void;
}

export interface StreamDestination {
  readonly port: number;
  /** Bytes of all connections, in order of arrival. */
  bytes(): Buffer;
  /** Frames of one connection after the other that end with this byte; the rest is not shown. */
  frames(delimiter: number): string[];
  connections(): number;
  /** Ends every connection with a reset. */
  reset(): void;
  /** Takes nothing more; connections stay. */
  hang(): void;
  resume(): void;
  /** Takes so many bytes a second of each connection; `resume` ends it. */
  slow(bytesPerSecond: number): void;
  /** From its next `listen` on. */
  secure(tls: TlsOptions): void;
  close(): Promise<void>;
  listen(): Promise<void>;
}

const slowTickMs = 50;

/** With `take` bytes go there instead of being kept. */
export async function createStreamDestination(
  t: Teardown,
  firstTls?: TlsOptions,
  take?: (bytes: Buffer, connection: number) => void,
): Promise<StreamDestination> {
  const sockets = new Set<Socket>();
  let tls = firstTls;
  const perConnection: Buffer[][] = [];
  let port = 0;
  let hangs = false;
  let slow: NodeJS.Timeout | undefined;
  const budgets = new WeakMap<Socket, number>();
  let server: Server;
  const onSocket = (socket: Socket): void => {
    const parts: Buffer[] = [];
    const connection = perConnection.push(parts) - 1;
    sockets.add(socket);
    socket
      .on('error', () => undefined)
      .on('close', () => sockets.delete(socket))
      .on('data', (bytes: Buffer) => {
        if (take === undefined) parts.push(bytes);
        else take(bytes, connection);
        if (slow === undefined) return;
        const left = (budgets.get(socket) ?? 0) - bytes.length;
        budgets.set(socket, left);
        if (left < 0) socket.pause();
      });
    if (hangs) socket.pause();
  };
  const listen = async (): Promise<void> => {
    server =
      tls === undefined ? createServer(onSocket) : createTlsServer(tls, onSocket).on('tlsClientError', () => undefined);
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  };
  const reset = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const resume = (): void => {
    hangs = false;
    clearInterval(slow);
    slow = undefined;
    for (const socket of sockets) socket.resume();
  };
  const close = (): Promise<void> => {
    clearInterval(slow);
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  await listen();
  t.teardown(close);
  return {
    get port() {
      return port;
    },
    bytes: () => Buffer.concat(perConnection.flat()),
    frames: (delimiter) => perConnection.flatMap((parts) => splitFrames(Buffer.concat(parts), delimiter)),
    connections: () => perConnection.length,
    reset,
    close,
    listen,
    hang: () => {
      hangs = true;
      for (const socket of sockets) socket.pause();
    },
    resume,
    slow: (bytesPerSecond) => {
      const each = (bytesPerSecond * slowTickMs) / 1000;
      slow ??= setInterval(() => {
        for (const socket of sockets) {
          const budget = Math.min(each, (budgets.get(socket) ?? 0) + each);
          budgets.set(socket, budget);
          if (budget > 0 && socket.isPaused()) socket.resume();
        }
      }, slowTickMs);
    },
    secure: (options) => {
      tls = options;
    },
  };
}

export function splitFrames(bytes: Buffer, delimiter: number): string[] {
  const frames: string[] = [];
  let from = 0;
  for (let at = bytes.indexOf(delimiter); at >= 0; at = bytes.indexOf(delimiter, from)) {
    frames.push(bytes.toString('utf8', from, at));
    from = at + 1;
  }
  return frames;
}
