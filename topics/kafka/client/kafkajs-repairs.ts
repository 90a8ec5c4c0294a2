/** Faults of kafkajs 2.2.4, repaired in its prototypes. The version is pinned. */
import { createRequire } from 'node:module';
import { at } from '../../../core/at.js';

interface RequestQueue {
  readonly pending: readonly unknown[];
  readonly inflight: ReadonlyMap<number, InflightRequest>;
  readonly enforceRequestTimeout: boolean;
  readonly requestTimeout: number;
  readonly maxInFlightRequests: number | null;
  throttledUntil: number;
  requestTimeoutIntervalId: NodeJS.Timeout | null | undefined;
  throttleCheckTimeoutId: NodeJS.Timeout | null | undefined;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
  maybeThrottle(forMs: number | null): void;
  canSendSocketRequestImmediately(): boolean;
  scheduleRequestTimeoutCheck(): void;
  isConnected(): boolean;
  destroy(): void;
}

interface InflightRequest {
  readonly requestTimeout: number;
  timeoutRequest(): void;
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
  repairDeadlines();
  repairConnectionPool();
}

/**
 * It sets a timer with a negative delay after every answer although nothing waits: Node.js 24 warns about it (kafkajs
 * issue 1751). The timer is only needed while requests wait, and then with the delay that it would have.
 */
function repairRequestQueue(): void {
  const { prototype } = load('kafkajs/src/network/requestQueue') as { prototype: RequestQueue };
  prototype.scheduleCheckPendingRequests = function scheduleWhileRequestsWait(this: RequestQueue): void {
    if (this.pending.length === 0 || this.throttleCheckTimeoutId) return;
    const delayMs = Math.max(checkPendingMs, this.throttledUntil - performance.now());
    this.throttleCheckTimeoutId = setTimeout(() => {
      this.throttleCheckTimeoutId = null;
      this.checkPendingRequests();
    }, delayMs);
  };
}

/** Looks at the deadlines of requests this often at least; so much later than asked a request may end. */
const deadlinesEveryMs = 100;

/**
 * Its deadlines are times of day: a clock set back by hours would hold a throttled connection, or one that never
 * answers, for hours.
 */
function repairDeadlines(): void {
  const { prototype } = load('kafkajs/src/network/requestQueue') as { prototype: RequestQueue };
  prototype.maybeThrottle = function throttle(this: RequestQueue, forMs: number | null): void {
    if (forMs !== null && forMs > 0) this.throttledUntil = Math.max(performance.now() + forMs, this.throttledUntil);
  };
  prototype.canSendSocketRequestImmediately = function mayBeSent(this: RequestQueue): boolean {
    return (
      (this.maxInFlightRequests === null ||
        this.maxInFlightRequests === undefined ||
        this.inflight.size < this.maxInFlightRequests) &&
      this.throttledUntil <= performance.now()
    );
  };
  prototype.scheduleRequestTimeoutCheck = function watchDeadlines(this: RequestQueue): void {
    if (!this.enforceRequestTimeout) return;
    this.destroy();
    const seen = new WeakMap<InflightRequest, number>();
    this.requestTimeoutIntervalId = setInterval(
      () => {
        const now = performance.now();
        for (const request of [...this.inflight.values()]) {
          const since = seen.get(request) ?? now;
          seen.set(request, since);
          if (now - since > request.requestTimeout) request.timeoutRequest();
        }
        if (!this.isConnected()) this.destroy();
      },
      Math.min(this.requestTimeout, deadlinesEveryMs),
    );
  };
}

/**
 * Requests that find a connection closed each open a socket of their own, and all but the last are left open and
 * forgotten.
 */
function repairConnectionPool(): void {
  const { prototype } = load('kafkajs/src/network/connectionPool') as { prototype: ConnectionPool };
  const opening = new WeakMap<Connection, Promise<unknown>>();
  prototype.getConnection = async function openOnce(this: ConnectionPool, index = 0): Promise<Connection> {
    const connection = at(this.pool, index);
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
