/** Two faults of kafkajs 2.2.4, repaired in its prototypes. The version is pinned. */
import { createRequire } from 'node:module';

interface RequestQueue {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null | undefined;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
}

const checkPendingMs = 10;

interface Connection {
  isConnected(): boolean;
  connect(): Promise<unknown>;
}

interface ConnectionPool {
  readonly pool: readonly Connection[];
  getConnection(index?: number): Promise<Connection>;
}

const load = createRequire(import.meta.url);

export function repairKafkajs(): void {
  repairRequestQueue();
  repairConnectionPool();
}

/**
 * It sets a timer with a negative delay after every answer although nothing waits: Node.js 24 warns about it (kafkajs issue 1751).
 * The timer is only needed while requests wait, and then with the delay that it would have.
 */
function repairRequestQueue(): void {
  const { prototype } = load('kafkajs/src/network/requestQueue') as { prototype: RequestQueue };
  prototype.scheduleCheckPendingRequests = function scheduleWhileRequestsWait(this: RequestQueue): void {
    if (this.pending.length === 0 || this.throttleCheckTimeoutId) return;
    const delayMs = Math.max(checkPendingMs, this.throttledUntil - Date.now());
    this.throttleCheckTimeoutId = setTimeout(() => {
      this.throttleCheckTimeoutId = null;
      this.checkPendingRequests();
    }, delayMs);
  };
}

/** Requests that find a connection closed each open a socket of their own, and all but the last are left open and forgotten. */
function repairConnectionPool(): void {
  const { prototype } = load('kafkajs/src/network/connectionPool') as { prototype: ConnectionPool };
  const opening = new WeakMap<Connection, Promise<unknown>>();
  prototype.getConnection = async function openOnce(this: ConnectionPool, index = 0): Promise<Connection> {
    const connection = this.pool[index] as Connection;
    if (connection.isConnected()) return connection;
    let connecting = opening.get(connection);
    if (connecting === undefined) {
      connecting = connection.connect().finally(() => opening.delete(connection));
      opening.set(connection, connecting);
    }
    await connecting;
    return connection;
  };
}
