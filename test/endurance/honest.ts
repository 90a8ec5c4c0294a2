/**
 * Well-behaved senders: TCP connections with numbered messages, HTTP requests that wait for 202, UDP at a modest rate.
 * What they sent is compared with what an independent reader finds in the topic; their latencies are kept with the time
 * at which they were seen.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { percentile, type Point } from './figures.js';

interface HonestTarget {
  readonly tcp: number;
  readonly udp: number;
  readonly http: number;
}

/** Messages a second of each transport, and connections of TCP and HTTP: one a partition. */
const honestRates = { tcp: 400, udp: 400, http: 120 } as const;
const connections = 4;
const tickMs = 10;
const head = '{"version":"1.1","host":"honest","_by":"';
const filler = 'x'.repeat(180);

export interface Honest {
  /** Milliseconds from POST to 202. */
  readonly accepted: Point[];
  sent(): Readonly<Record<'tcp' | 'udp' | 'http', number>>;
  /** Answers other than 202, and connections that broke. */
  readonly failures: string[];
  stop(): Promise<void>;
}

function message(by: string, lane: number, sequence: number): string {
  return `${head}${by}","_lane":${lane},"_sequence":${sequence},"_at":${Date.now()},"short_message":"order ${sequence} paid ${filler}","level":6,"_namespace":"shop"}`;
}

interface Place {
  readonly by: string;
  readonly lane: number;
  readonly sequence: number;
  readonly at: number;
}

const headBytes = Buffer.from(head);

/** What an honest message says about itself; undefined for every other. */
export function readHonest(value: Buffer): Place | undefined {
  if (value.length < headBytes.length || headBytes.compare(value, 0, headBytes.length) !== 0) return undefined;
  const found = /^(\w+)","_lane":(\d+),"_sequence":(\d+),"_at":(\d+)/.exec(
    value.toString('latin1', headBytes.length, headBytes.length + 80),
  );
  return found === null
    ? undefined
    : { by: found[1] as string, lane: Number(found[2]), sequence: Number(found[3]), at: Number(found[4]) };
}

/** How many messages have come due since the last call. */
function createPace(rate: number): () => number {
  let last = performance.now();
  let due = 0;
  return () => {
    const now = performance.now();
    due += ((now - last) * rate) / 1000;
    last = now;
    const whole = Math.floor(due);
    due -= whole;
    return whole;
  };
}

export async function startHonest(target: HonestTarget): Promise<Honest> {
  const failures: string[] = [];
  const accepted: Point[] = [];
  const tcp = await createTcp(target.tcp, failures);
  const udp = await createUdp(target.udp, failures);
  const http = createHttp(target.http, accepted, failures);
  return {
    accepted,
    failures,
    sent: () => ({ tcp: tcp.sent(), udp: udp.sent(), http: http.sent() }),
    stop: async () => {
      await Promise.all([tcp.stop(), udp.stop(), http.stop()]);
    },
  };
}

interface Part {
  sent(): number;
  stop(): Promise<void>;
}

async function createTcp(port: number, failures: string[]): Promise<Part> {
  const lanes = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.resume();
      socket.on('error', (error) => {
        failures.push(`tcp: ${error.message}`);
      });
      return { socket, sequence: 0, pace: createPace(honestRates.tcp / connections) };
    }),
  );
  const timer = setInterval(() => {
    lanes.forEach((lane, number) => {
      for (let left = lane.pace(); left > 0; left -= 1)
        lane.socket.write(`${message('tcp', number, (lane.sequence += 1))}\0`);
    });
  }, tickMs);
  return {
    sent: () => lanes.reduce((sum, lane) => sum + lane.sequence, 0),
    async stop() {
      clearInterval(timer);
      await Promise.all(
        lanes.map(async ({ socket }) => {
          if (socket.destroyed) return;
          socket.end();
          await once(socket, 'close').catch(() => undefined);
        }),
      );
    },
  };
}

async function createUdp(port: number, failures: string[]): Promise<Part> {
  const socket = createSocket('udp4');
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let sequence = 0;
  let unsent = 0;
  const pace = createPace(honestRates.udp);
  const timer = setInterval(() => {
    for (let left = pace(); left > 0; left -= 1) {
      unsent += 1;
      socket.send(message('udp', 0, (sequence += 1)), (error) => {
        unsent -= 1;
        if (error !== null) failures.push(`udp: ${error.message}`);
      });
    }
  }, tickMs);
  return {
    sent: () => sequence,
    async stop() {
      clearInterval(timer);
      while (unsent > 0)
        await new Promise((resolve) => {
          setTimeout(resolve, 5);
        });
      socket.close();
    },
  };
}

/**
 * Each lane posts one message after the other, at its pace; a request that is answered late delays the next one, and is
 * what is measured.
 */
function createHttp(port: number, accepted: Point[], failures: string[]): Part {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const stopped = new AbortController();
  let sent = 0;
  const post = (body: string): Promise<number | string> =>
    new Promise((resolve) => {
      const asked = request(
        {
          agent,
          host: '127.0.0.1',
          port,
          method: 'POST',
          path: '/gelf',
          headers: { 'content-length': Buffer.byteLength(body) },
          timeout: 60_000,
        },
        (response) => {
          response.resume();
          response.once('end', () => {
            resolve(response.statusCode ?? 0);
          });
        },
      );
      asked.once('timeout', () => {
        asked.destroy();
      });
      asked.once('error', (error) => {
        resolve(error.message);
      });
      asked.end(body);
    });
  const lane = async (number: number): Promise<void> => {
    const pause = (1000 * connections) / honestRates.http;
    for (let sequence = 1; !stopped.signal.aborted; sequence += 1) {
      const began = performance.now();
      const status = await post(message('http', number, sequence));
      sent += 1;
      accepted.push({ at: Date.now(), value: performance.now() - began });
      if (status !== 202) failures.push(`http: ${status}`);
      await new Promise((resolve) => {
        setTimeout(resolve, Math.max(0, pause - (performance.now() - began)));
      });
    }
  };
  const lanes = Array.from({ length: connections }, (_, number) => lane(number));
  return {
    sent: () => sent,
    async stop() {
      stopped.abort();
      await Promise.all(lanes);
      agent.destroy();
    },
  };
}

/** 50th and 99th percentile of what was seen between two moments. */
export function latencyBetween(
  points: readonly Point[],
  from: number,
  to: number,
): { readonly count: number; readonly p50: number; readonly p99: number } {
  const values = points.filter(({ at }) => at >= from && at < to).map(({ value }) => value);
  return { count: values.length, p50: percentile(values, 0.5), p99: percentile(values, 0.99) };
}
