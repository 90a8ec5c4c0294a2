/**
 * A TCP proxy that cuts, delays and holds connections, and that can cut one between Kafka's append and its
 * acknowledgement.
 */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

const produceKey = 0;

export interface TcpProxy {
  readonly port: number;
  /** Acknowledgements that were swallowed so far. */
  readonly cutAcknowledgements: number;
  /** Ends every connection at once. */
  cut(): void;
  /** While held, nothing passes in either direction; connections stay. */
  hold(): void;
  release(): void;
  /** Bytes pass this much later, in milliseconds. */
  delay(milliseconds: number): void;
  /**
   * Kafka only: of the next Produce answers every `every`-th, `count` in all, is not passed on; its connection is ended
   * instead. The broker has appended by then, the client does not know. `onCut` is called before the client can hear of
   * it.
   */
  cutAcknowledgementsOf(count: number, every: number, onCut?: () => void): void;
  close(): Promise<void>;
}

/** Calls back for each message that begins with its 4-byte length; a message may come in any number of pieces. */
function createFramer(onFrame: (head: Buffer) => void): (bytes: Buffer) => void {
  /** Length, and the first 8 bytes: api key, version and correlation id of a request, correlation id of an answer. */
  const headBytes = 12;
  let head = Buffer.alloc(0);
  let left = 0;
  return (bytes) => {
    let position = 0;
    while (position < bytes.length) {
      if (left > 0) {
        const skipped = Math.min(left, bytes.length - position);
        left -= skipped;
        position += skipped;
        continue;
      }
      const wanted = head.length < 4 ? 4 : Math.min(headBytes, 4 + head.readInt32BE(0));
      const taken = bytes.subarray(position, position + wanted - head.length);
      head = Buffer.concat([head, taken]);
      position += taken.length;
      if (head.length < 4 || head.length < Math.min(headBytes, 4 + head.readInt32BE(0))) continue;
      left = 4 + head.readInt32BE(0) - head.length;
      onFrame(head);
      head = Buffer.alloc(0);
    }
  };
}

interface Plan {
  count: number;
  every: number;
  seen: number;
  cut: number;
  onCut: () => void;
}

/** Watches one connection; `onAnswer` returns true when the bytes that just came must not be passed on. */
function watchKafka(plan: Plan): { onRequest: (bytes: Buffer) => void; onAnswer: (bytes: Buffer) => boolean } {
  const produces = new Set<number>();
  let swallow = false;
  const requests = createFramer((head) => {
    if (head.readInt16BE(4) === produceKey) produces.add(head.readInt32BE(8));
  });
  const answers = createFramer((head) => {
    if (!produces.delete(head.readInt32BE(4)) || plan.cut >= plan.count) return;
    plan.seen += 1;
    if (plan.seen % plan.every !== 0) return;
    plan.cut += 1;
    swallow = true;
    plan.onCut();
  });
  return {
    onRequest: requests,
    onAnswer: (bytes) => {
      answers(bytes);
      return swallow;
    },
  };
}

/** Listens on `listenHost`, loopback unless another address is named. */
export async function createTcpProxy(
  target: { readonly host: string; readonly port: number },
  listenHost = '127.0.0.1',
): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const plan: Plan = { count: 0, every: 1, seen: 0, cut: 0, onCut: () => undefined };
  let delayMs = 0;
  let isHeld = false;

  const server = createServer((client) => {
    const upstream = connect(target);
    const pair = [client, upstream] as const;
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    const watch = watchKafka(plan);
    const pass = (to: Socket, bytes: Buffer): void => {
      if (delayMs === 0) to.write(bytes);
      else setTimeout(() => to.write(bytes), delayMs);
    };
    client.on('data', (bytes: Buffer) => {
      watch.onRequest(bytes);
      pass(upstream, bytes);
    });
    upstream.on('data', (bytes: Buffer) => {
      if (watch.onAnswer(bytes)) end();
      else pass(client, bytes);
    });
    for (const socket of pair) socket.on('close', end).on('error', end).setNoDelay(true);
    if (isHeld) for (const socket of pair) socket.pause();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, listenHost, resolve);
  });
  const each = (act: (socket: Socket) => void): void => {
    for (const pair of [...pairs]) pair.forEach(act);
  };
  return {
    port: (server.address() as AddressInfo).port,
    get cutAcknowledgements() {
      return plan.cut;
    },
    cut: () => each((socket) => socket.destroy()),
    hold() {
      isHeld = true;
      each((socket) => socket.pause());
    },
    release() {
      isHeld = false;
      each((socket) => socket.resume());
    },
    delay(milliseconds) {
      delayMs = milliseconds;
    },
    cutAcknowledgementsOf(count, every, onCut = () => undefined) {
      Object.assign(plan, { count, every, seen: 0, cut: 0, onCut });
    },
    async close() {
      each((socket) => socket.destroy());
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
