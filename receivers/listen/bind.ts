/** Opens listening sockets, with their failures said in Sluice's own errors. */
import { isIP } from 'node:net';
import type { Server } from 'node:net';
import type { Socket } from 'node:dgram';
import { toError, type SluiceError } from '../../core/errors.js';
import { listenErrors } from './errors.js';

export interface BoundAddress {
  readonly host: string;
  readonly port: number;
}

export function listenOn(server: Server, receiver: string, host: string, port: number): Promise<BoundAddress> {
  return new Promise((resolve, reject) => {
    const failed = (error: unknown) => {
      reject(bindError(error, receiver, host, port));
    };
    server.once('error', failed);
    server.listen({ host, port, backlog: 1024 }, () => {
      server.off('error', failed);
      const address = server.address();
      resolve(
        typeof address === 'object' && address !== null
          ? { host: address.address, port: address.port }
          : { host, port },
      );
    });
  });
}

export function bindSocket(socket: Socket, receiver: string, host: string, port: number): Promise<BoundAddress> {
  return new Promise((resolve, reject) => {
    const failed = (error: unknown) => {
      reject(bindError(error, receiver, host, port));
    };
    socket.once('error', failed);
    socket.bind({ address: host, port, exclusive: true }, () => {
      socket.off('error', failed);
      const address = socket.address();
      resolve({ host: address.address, port: address.port });
    });
  });
}

/**
 * `reusePort` of node:dgram: the kernel sends all datagrams of one address and port to one of the sockets. Ignored by
 * Node.js before 22.12 and 23.1.
 */
export function canShareUdpPort(version = process.versions.node, platform: string = process.platform): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return platform === 'linux' && (major >= 24 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12));
}

/** An address that names all IPv6 interfaces, or is one, needs an IPv6 socket. */
export function addressFamily(host: string): 4 | 6 {
  return isIP(host) === 6 ? 6 : 4;
}

function bindError(thrown: unknown, receiver: string, host: string, port: number): SluiceError {
  const error: NodeJS.ErrnoException = toError(thrown);
  const taken = error.code === 'EADDRINUSE';
  return listenErrors.create(taken ? 'RECEIVER_PORT_TAKEN' : 'RECEIVER_ADDRESS_INVALID', {
    place: `receiver ${receiver}`,
    got: `${host}:${port} (${error.code ?? error.message})`,
    allowed: taken ? 'a free port (setting port; 0 takes any)' : allowedAddress(error.code),
    cause: error,
  });
}

function allowedAddress(code: string | undefined): string {
  if (code === 'EACCES') return 'a port above 1023, or the right to listen below';
  return 'an address of this machine (setting host; 0.0.0.0 means all)';
}
