/** `POST /gelf` over one kept-alive connection: single messages, newline-delimited ones and arrays in turn. */
import { withinDeadline } from '../../core/time/deadline.js';
import { at } from '../../core/at.js';
import { Agent, request } from 'node:http';
import type { Lane, LoadContext, Sender } from '../contract.js';
import { loadErrors } from '../errors.js';

/** Messages of one request that carries several. */
const messagesPerRequest = 100;
/** Longest wait that an answer 429 or 503 may ask for. */
const maxRetryAfterMs = 2000;
const requestTimeoutMs = 30_000;

interface Shape {
  readonly type: string;
  readonly open: string;
  readonly between: string;
  readonly close: string;
  readonly messages: number;
}
const shapes: readonly Shape[] = [
  { type: 'application/json', open: '', between: '', close: '', messages: 1 },
  { type: 'application/x-ndjson', open: '', between: '\n', close: '\n', messages: messagesPerRequest },
  { type: 'application/json', open: '[', between: ',', close: ']', messages: messagesPerRequest },
];

export function createHttpSender(context: LoadContext, port: number): Sender {
  const { generator, counts, options } = context;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const scratch = Buffer.allocUnsafeSlow((generator.largestBytes + 1) * messagesPerRequest + 2);
  let lane: Lane | undefined;
  let busy: Promise<void> | undefined;
  let requests = 0;
  let closed = false;

  /** The status of the answer and the wait it asks for; status 0 when there was none. */
  const ask = (method: 'GET' | 'POST', type: string, body: Buffer): Promise<{ status: number; retryAfterMs: number }> =>
    new Promise((resolve) => {
      const headers = {
        'content-type': type,
        'content-length': body.length,
        ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      };
      const sent = request(
        { agent, host: options.host, port, method, path: '/gelf', headers, timeout: requestTimeoutMs },
        (response) => {
          response.resume();
          response.once('close', () =>
            resolve({
              status: response.statusCode ?? 0,
              retryAfterMs: Number(response.headers['retry-after'] ?? 0) * 1000 || 50,
            }),
          );
        },
      );
      sent.once('timeout', () => sent.destroy());
      sent.once('error', () => resolve({ status: 0, retryAfterMs: 50 }));
      sent.end(body);
    });

  /** Sends again only what was refused for being too much: then it was surely not taken. */
  const deliver = async (type: string, body: Buffer): Promise<void> => {
    for (;;) {
      const started = performance.now();
      const { status, retryAfterMs } = await ask('POST', type, body);
      if (status === 202) {
        context.accept.add(performance.now() - started);
        return;
      }
      const pushedBack = status === 429 || status === 503;
      if (pushedBack) counts.pushedBack += 1;
      if (!pushedBack || closed) {
        counts.failed += 1;
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, Math.min(maxRetryAfterMs, retryAfterMs)));
    }
  };

  return {
    async open() {
      // Any answer shows that a server is there, and this request counts as no message.
      const { status } = await ask('GET', 'application/json', Buffer.alloc(0));
      if (status === 0) throw loadErrors.create('LOAD_TARGET_UNREACHABLE', { place: `http ${options.host}:${port}` });
      lane = context.openLane('http');
    },
    send(count, nowMs) {
      if (lane === undefined || busy !== undefined || count < 1) return 0;
      const shape = at(shapes, requests % shapes.length);
      requests += 1;
      const messages = Math.min(count, shape.messages);
      let end = scratch.write(shape.open, 0, 'latin1');
      for (let index = 0; index < messages; index += 1) {
        if (index > 0) end += scratch.write(shape.between, end, 'latin1');
        end = generator.write(scratch, end, lane, nowMs);
        lane.sent += 1;
      }
      end += scratch.write(shape.close, end, 'latin1');
      counts.bytes += end;
      busy = deliver(shape.type, scratch.subarray(0, end)).finally(() => (busy = undefined));
      return messages;
    },
    async close(deadlineMs) {
      closed = true;
      if (busy !== undefined) await withinDeadline(busy, deadlineMs);
      agent.destroy();
    },
  };
}
