/**
 * TCP senders that wait when they are held back, as a process of its own: port, connections, messages a second and
 * milliseconds as arguments, what became of it as one JSON line. A message that comes due while the kernel still has
 * the write before is held back, and never sent.
 */
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { benchMessage } from '../../bench/send.js';

export interface StalledRun {
  readonly offered: number;
  readonly offeredBytes: number;
  /** What the kernel took, all of it before the end. */
  readonly sent: number;
  readonly sentBytes: number;
  /** Share of the connections' time in which a write took longer than `stallMs`. */
  readonly stalledShare: number;
  readonly longestStallMs: number;
}

/** A write to a reader that reads takes microseconds, on a busy machine a few milliseconds. */
const stallMs = 100;
const tickMs = 10;
/** Messages of one write. */
const batch = 50;

interface Lane {
  readonly socket: Socket;
  due: number;
  offered: number;
  sent: number;
  bytes: number;
  writingSince: number | undefined;
  stalledMs: number;
  longestMs: number;
}

function writeDue(lane: Lane): void {
  const count = Math.min(batch, Math.floor(lane.due));
  if (count === 0) return;
  lane.due -= count;
  const bytes = Buffer.from(
    Array.from({ length: count }, (_, index) => `${benchMessage(lane.sent + index)}\0`).join(''),
  );
  const began = performance.now();
  lane.writingSince = began;
  lane.socket.write(bytes, () => {
    const took = performance.now() - began;
    lane.writingSince = undefined;
    if (took > stallMs) lane.stalledMs += took;
    lane.longestMs = Math.max(lane.longestMs, took);
    lane.sent += count;
    lane.bytes += bytes.length;
    if (lane.due >= 1) writeDue(lane);
  });
}

async function run(port: number, connections: number, rate: number, forMs: number): Promise<StalledRun> {
  const lanes: Lane[] = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      await once(socket, 'connect');
      socket.resume();
      return { socket, due: 0, offered: 0, sent: 0, bytes: 0, writingSince: undefined, stalledMs: 0, longestMs: 0 };
    }),
  );
  const began = performance.now();
  let last = began;
  while (performance.now() - began < forMs) {
    await wait(tickMs);
    const now = performance.now();
    for (const lane of lanes) {
      const fresh = ((now - last) * rate) / 1000 / connections;
      lane.offered += fresh;
      // What comes due in a stall is held back for good; otherwise the sender would only begin to measure its own
      // backlog.
      lane.due = lane.writingSince !== undefined && now - lane.writingSince > stallMs ? 0 : lane.due + fresh;
      if (lane.writingSince === undefined) writeDue(lane);
    }
    last = now;
  }
  const elapsed = performance.now() - began;
  for (const lane of lanes) lane.due = 0;
  await Promise.all(
    lanes.map(async ({ socket }) => {
      socket.end();
      await once(socket, 'close');
    }),
  );
  const sum = (of: (lane: Lane) => number): number => lanes.reduce((total, lane) => total + of(lane), 0);
  const offered = Math.round(sum((lane) => lane.offered));
  return {
    offered,
    offeredBytes: offered * (benchMessage(0).length + 1),
    sent: sum((lane) => lane.sent),
    sentBytes: sum((lane) => lane.bytes),
    stalledShare: Math.min(1, sum((lane) => lane.stalledMs) / (elapsed * connections)),
    longestStallMs: Math.max(...lanes.map((lane) => lane.longestMs)),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [port = 0, connections = 0, rate = 0, forMs = 0] = process.argv.slice(2).map(Number);
  process.stdout.write(JSON.stringify(await run(port, connections, rate, forMs)));
}
