/**
 * How many connections one address may have open at a time: one sender that leaks them must not use up what all others
 * have.
 */
import type { Server, Socket } from 'node:net';
import { peerAddress, peerText } from './peer.js';

interface AddressLimit {
  /** True when the connection may stay; it is counted until it is closed. */
  admit(socket: Socket): boolean;
}

function createAddressLimit(most: number): AddressLimit {
  const open = new Map<string, number>();
  return {
    admit(socket) {
      const address = peerAddress(peerText(socket.remoteAddress, socket.remotePort));
      const before = open.get(address) ?? 0;
      if (before >= most) return false;
      open.set(address, before + 1);
      socket.once('close', () => {
        const left = (open.get(address) ?? 1) - 1;
        if (left > 0) open.set(address, left);
        else open.delete(address);
      });
      return true;
    },
  };
}

/**
 * Puts the limit before everything that looks at a new connection (TLS, the HTTP parser); call it when all of them are
 * registered. What is refused is closed.
 */
export function limitConnections(server: Server, most: number, onRefused: (peer: string) => void): void {
  const limit = createAddressLimit(most);
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (limit.admit(socket)) {
      for (const listener of listeners) Reflect.apply(listener, server, [socket]);
      return;
    }
    onRefused(peerText(socket.remoteAddress, socket.remotePort));
    socket.on('error', ignore);
    socket.destroy();
  });
}

/** An error of a socket that is being destroyed anyway. */
function ignore(): void {}
