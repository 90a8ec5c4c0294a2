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
  close(): Promise<void>;
  listen(): Promise<void>;
}

export async function createStreamDestination(t: Teardown, tls?: TlsOptions): Promise<StreamDestination> {
  const sockets = new Set<Socket>();
  const perConnection: Buffer[][] = [];
  let port = 0;
  let hangs = false;
  let server: Server;
  const onSocket = (socket: Socket): void => {
    const parts: Buffer[] = [];
    perConnection.push(parts);
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket)).on('data', (bytes: Buffer) => { parts.push(bytes); });
    if (hangs) socket.pause();
  };
  const listen = async (): Promise<void> => {
    server = tls === undefined ? createServer(onSocket) : createTlsServer(tls, onSocket).on('tlsClientError', () => undefined);
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  };
  const reset = (): void => { for (const socket of sockets) socket.resetAndDestroy(); };
  const close = (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  await listen();
  t.teardown(close);
  return {
    get port() { return port; },
    bytes: () => Buffer.concat(perConnection.flat()),
    frames: (delimiter) => perConnection.flatMap((parts) => splitFrames(Buffer.concat(parts), delimiter)),
    connections: () => perConnection.length,
    reset, close, listen,
    hang: () => {
      hangs = true;
      for (const socket of sockets) socket.pause();
    },
    resume: () => {
      hangs = false;
      for (const socket of sockets) socket.resume();
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
