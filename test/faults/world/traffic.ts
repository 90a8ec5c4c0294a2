/**
 * Numbered messages over TCP and HTTP, at a set rate, that go on through resets and restarts of the receiver as
 * forwarders do: what was written to a TCP connection is not sent again, what HTTP did not acknowledge is.
 */
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface Traffic {
  /** Stops sending; resolves with how many messages were sent. */
  stop(): Promise<number>;
  sent(): number;
  /** Messages that HTTP answered with 202, as `<connection>/<sequence>`. */
  acknowledged(): ReadonlySet<string>;
}

export interface Target {
  readonly host: string;
  readonly port: number;
  /** Address that senders bind to. */
  readonly localAddress?: string | undefined;
}

interface TrafficOptions {
  readonly tcp: () => Target;
  /** No HTTP when it is left out. */
  readonly http?: (() => Target) | undefined;
  /** TCP connections. */
  readonly connections: number;
  /**
   * Messages a second, all TCP connections together; HTTP adds what its two connections can carry, at most 5 % of it.
   */
  readonly rate: number;
  readonly padding?: number;
  /** A new number for each connection, so that order is judged within one. */
  readonly nextConnection: () => number;
}

/** Pause between two bursts; each burst holds what has come due since. */
const tickMs = 20;
const httpLanes = 2;
const httpShare = 0.05;
/** How long a forwarder waits for one answer. */
const httpTimeoutMs = 10_000;
const stopPatienceMs = 15_000;

interface Lane {
  sent(): number;
  stop(): Promise<void>;
}

export function startTraffic(options: TrafficOptions): Traffic {
  const acknowledged = new Set<string>();
  const lanes = [
    ...Array.from({ length: options.connections }, () => createTcpLane(options)),
    ...(options.http === undefined
      ? []
      : Array.from({ length: httpLanes }, () => createHttpLane(options, options.http as () => Target, acknowledged))),
  ];
  const sent = (): number => lanes.reduce((sum, lane) => sum + lane.sent(), 0);
  return {
    sent,
    acknowledged: () => acknowledged,
    stop: async () => {
      await Promise.all(lanes.map((lane) => lane.stop()));
      return sent();
    },
  };
}

/** Every fourth message goes to a second index set too. */
function messageOf(connection: string, sequence: number, padding: string): string {
  const side = sequence % 4 === 0 ? ',"_load_side":"yes"' : '';
  return `{"version":"1.1","host":"sender-${connection}","short_message":"message ${sequence} of ${connection} ${padding}","level":6,"_namespace":"shop","_pod":"pay-${sequence % 20}","_container":"pay","_load_connection":"${connection}","_load_sequence":${sequence}${side}}`;
}

function createTcpLane(options: TrafficOptions): Lane {
  const padding = 'x'.repeat(options.padding ?? 150);
  let total = 0;
  let sequence = 0;
  let connection = '';
  let due = 0;
  let last = performance.now();
  let socket: Socket | undefined;
  let writable = false;
  const open = (): void => {
    const { host, port, localAddress } = options.tcp();
    const fresh = connect({ host, port, ...(localAddress === undefined ? {} : { localAddress }) });
    socket = fresh;
    writable = false;
    connection = `t${options.nextConnection()}`;
    sequence = 0;
    fresh.on('connect', () => {
      writable = true;
    });
    fresh.on('drain', () => {
      writable = true;
    });
    fresh.on('error', () => undefined);
    fresh.on('close', () => {
      writable = false;
      if (socket === fresh) socket = undefined;
    });
  };
  const tick = (): void => {
    const now = performance.now();
    due = Math.min(
      due + ((now - last) * options.rate) / 1000 / options.connections,
      options.rate / options.connections,
    );
    last = now;
    if (socket === undefined) return open();
    if (!writable || due < 1) return;
    let text = '';
    for (; due >= 1; due -= 1) {
      sequence += 1;
      text += `${messageOf(connection, sequence, padding)}\0`;
      total += 1;
    }
    writable = socket.write(text);
  };
  const timer = setInterval(tick, tickMs);
  return {
    sent: () => total,
    stop: async () => {
      clearInterval(timer);
      const open = socket;
      if (open === undefined) return;
      await new Promise<void>((resolve) => {
        const cut = setTimeout(() => open.destroy(), stopPatienceMs);
        open.once('close', () => {
          clearTimeout(cut);
          resolve();
        });
        open.end();
      });
    },
  };
}

function createHttpLane(options: TrafficOptions, target: () => Target, acknowledged: Set<string>): Lane {
  const agent = new Agent({ keepAlive: true });
  const padding = 'x'.repeat(options.padding ?? 150);
  const connection = `h${options.nextConnection()}`;
  const pauseMs = 1000 / ((options.rate * httpShare) / httpLanes);
  let sequence = 0;
  let stopped = false;
  const run = async (): Promise<void> => {
    while (!stopped) {
      sequence += 1;
      const body = messageOf(connection, sequence, padding);
      while (!stopped && !(await post(agent, target(), body))) await pause(100);
      if (!stopped) acknowledged.add(`${connection}/${sequence}`);
      await pause(pauseMs);
    }
  };
  const running = run();
  return {
    sent: () => sequence,
    stop: async () => {
      stopped = true;
      await running;
      agent.destroy();
    },
  };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

function post(agent: Agent, { host, port, localAddress }: Target, body: string): Promise<boolean> {
  return new Promise((resolve) => {
    const sending = request(
      {
        host,
        port,
        localAddress,
        agent,
        method: 'POST',
        path: '/gelf',
        timeout: httpTimeoutMs,
        headers: { 'content-length': Buffer.byteLength(body) },
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode === 202));
        response.on('error', () => resolve(false));
      },
    );
    sending.on('timeout', () => sending.destroy());
    sending.on('error', () => resolve(false));
    sending.end(body);
  });
}
