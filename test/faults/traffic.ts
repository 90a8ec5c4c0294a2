/** Numbered messages over TCP, at a set rate, that go on through resets and restarts of the receiver as a forwarder does: what was written is not sent again. */
import { connect, type Socket } from 'node:net';

export interface Traffic {
  /** Stops sending; resolves with how many messages were written. */
  stop(): Promise<number>;
  sent(): number;
}

export interface TrafficOptions {
  readonly port: () => number;
  readonly connections: number;
  /** Messages a second, all connections together. */
  readonly rate: number;
  readonly padding?: number;
}

/** Pause between two bursts; each burst holds what has come due since. */
const tickMs = 20;

export function startTraffic(options: TrafficOptions): Traffic {
  const lanes = Array.from({ length: options.connections }, (_, connection) => createLane(options, connection));
  return {
    sent: () => lanes.reduce((sum, lane) => sum + lane.sent(), 0),
    stop: async () => {
      await Promise.all(lanes.map((lane) => lane.stop()));
      return lanes.reduce((sum, lane) => sum + lane.sent(), 0);
    },
  };
}

interface Lane {
  sent(): number;
  stop(): Promise<void>;
}

function createLane(options: TrafficOptions, connection: number): Lane {
  const padding = 'x'.repeat(options.padding ?? 150);
  let sequence = 0;
  let due = 0;
  let last = Date.now();
  let socket: Socket | undefined;
  let writable = false;
  const open = (): void => {
    const fresh = connect(options.port(), '127.0.0.1');
    socket = fresh;
    writable = false;
    fresh.on('connect', () => { writable = true; });
    fresh.on('drain', () => { writable = true; });
    fresh.on('error', () => undefined);
    fresh.on('close', () => {
      writable = false;
      if (socket === fresh) socket = undefined;
    });
  };
  const message = (): string => {
    sequence += 1;
    return `{"version":"1.1","host":"sender-${connection}","short_message":"message ${sequence} of ${connection} ${padding}","level":6,"_namespace":"shop","_pod":"pay-${sequence % 20}","_container":"pay","_load_connection":${connection},"_load_sequence":${sequence}}\0`;
  };
  const tick = (): void => {
    const now = Date.now();
    due = Math.min(due + ((now - last) * options.rate) / 1000 / options.connections, options.rate / options.connections);
    last = now;
    if (socket === undefined) return open();
    if (!writable || due < 1) return;
    let text = '';
    for (; due >= 1; due -= 1) text += message();
    writable = socket.write(text);
  };
  const timer = setInterval(tick, tickMs);
  return {
    sent: () => sequence,
    stop: async () => {
      clearInterval(timer);
      const open = socket;
      if (open === undefined) return;
      await new Promise<void>((resolve) => {
        open.once('close', () => resolve());
        open.end();
      });
    },
  };
}
