/** Each repair of kafkajs by itself, without brokers. `docs/kafka-client.md` tells what they are for. */
import { createRequire } from 'node:module';
import t from 'tap';
import { repairKafkajs } from '../../../topics/kafka/client/kafkajs-repairs.js';
import { until } from '../../program.js';

interface Queue {
  readonly inflight: ReadonlyMap<number, unknown>;
  throttleCheckTimeoutId: unknown;
  fulfillRequest(answer: { correlationId: number; payload: unknown; size: number }): void;
  maybeThrottle(forMs: number): void;
  canSendSocketRequestImmediately(): boolean;
  scheduleRequestTimeoutCheck(): void;
  push(request: object): void;
  destroy(): void;
}
interface Pool {
  pool: readonly object[];
  getConnection(): Promise<unknown>;
}

repairKafkajs();
const load = createRequire(import.meta.url);
const logger = { namespace: () => logger, debug: () => undefined, warn: () => undefined };

function createQueue(requestTimeout = 30_000): Queue {
  const RequestQueue = load('kafkajs/src/network/requestQueue') as new (options: object) => Queue;
  return new RequestQueue({
    maxInFlightRequests: null,
    requestTimeout,
    enforceRequestTimeout: true,
    clientId: 'test',
    broker: 'broker',
    logger,
  });
}

function push(queue: Queue, correlationId: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    queue.push({
      entry: { correlationId, resolve, reject, apiName: 'Fetch', apiKey: 1, apiVersion: 11 },
      expectResponse: true,
      sendRequest: () => undefined,
    });
  });
}

/** The wall clock one hour back; elapsed time goes on. */
function setClockBack(test: { teardown(action: () => void): void }): void {
  const now = Date.now;
  Date.now = () => now() - 3_600_000;
  test.teardown(() => {
    Date.now = now;
  });
}

t.test('no timer is set after an answer while no request waits', async (test) => {
  const queue = createQueue();
  const answered = push(queue, 1);
  queue.fulfillRequest({ correlationId: 1, payload: undefined, size: 0 });
  await answered;
  test.equal(queue.throttleCheckTimeoutId, null);
});

t.test('a throttled connection sends again in time although the clock was set back', async (test) => {
  const queue = createQueue();
  queue.maybeThrottle(20);
  setClockBack(test);
  test.notOk(queue.canSendSocketRequestImmediately());
  const sent = push(queue, 1);
  await until(
    () => (queue.inflight.has(1) ? true : undefined),
    5_000,
    () => 'the request still waits',
  );
  queue.fulfillRequest({ correlationId: 1, payload: undefined, size: 0 });
  await sent;
});

t.test('a request without an answer ends in time although the clock was set back', async (test) => {
  const queue = createQueue(50);
  test.teardown(() => queue.destroy());
  const sent = push(queue, 1);
  setClockBack(test);
  queue.scheduleRequestTimeoutCheck();
  await test.rejects(sent, { name: 'KafkaJSRequestTimeoutError' });
});

t.test('requests that find a connection closed open it once, and again after it failed', async (test) => {
  const ConnectionPool = load('kafkajs/src/network/connectionPool') as { readonly prototype: Pool };
  const pool = Object.create(ConnectionPool.prototype) as Pool;
  let opened = 0;
  let failure: Error | undefined = new Error('refused');
  const connection = {
    isConnected: () => false,
    async connect() {
      opened += 1;
      await new Promise((resolve) => setImmediate(resolve));
      if (failure !== undefined) throw failure;
    },
  };
  pool.pool = [connection];
  const failed = await Promise.allSettled([pool.getConnection(), pool.getConnection()]);
  test.same(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  test.equal(opened, 1);
  failure = undefined;
  await Promise.all([pool.getConnection(), pool.getConnection(), pool.getConnection()]);
  test.equal(opened, 2);
});
