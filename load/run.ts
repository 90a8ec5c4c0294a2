/** Runs a load: opens the senders, paces them together, ends by time, count or signal, and reports. */
import { at } from '../core/at.js';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lane, LoadContext, LoadOptions, LoadRun, Sender, Transport } from './contract.js';
import { loadErrors } from './errors.js';
import { createGenerator, maxConnections } from './generator.js';
import { createHistogram } from './histogram.js';
import { createHttpSender } from './senders/http.js';
import { createStreamSender } from './senders/stream.js';
import { createUdpSender } from './senders/udp.js';

const defaultPorts: Readonly<Record<Transport, number>> = { tcp: 12201, tls: 12201, udp: 12201, http: 12202 };

/** Time between two turns. Shorter ones cost more than they smooth. */
const turnMs = 5;
/** What was missed while the target held back is made up for this long, so that a pause does not end in a flood. */
const catchUpMs = 500;
const progressMs = 1000;
/** A target that holds back for longer at the end keeps what it has. */
const defaultDrainMs = 10_000;

export async function runLoad(options: LoadOptions): Promise<LoadRun> {
  checkOptions(options);
  const id = randomBytes(4).toString('hex');
  const lanes: Lane[] = [];
  const context: LoadContext = {
    options,
    generator: createGenerator({ seed: options.seed, run: id, bytes: options.bytes }),
    write: createHistogram(),
    accept: createHistogram(),
    counts: { bytes: 0, reconnects: 0, failed: 0, pushedBack: 0 },
    openLane(transport) {
      const lane: Lane = { connection: lanes.length % maxConnections, transport, sent: 0 };
      lanes.push(lane);
      return lane;
    },
  };
  const senders = createSenders(context);
  try {
    await Promise.all(senders.map((sender) => sender.open()));
    const started = performance.now();
    const sent = await pace(options, senders, started);
    const elapsedMs = performance.now() - started;
    await Promise.all(senders.map((sender) => sender.close(options.drainMs ?? defaultDrainMs)));
    return {
      id,
      lanes,
      sent,
      elapsedMs,
      ...context.counts,
      stoppedEarly: options.signal?.aborted === true,
      write: context.write.percentiles(),
      accept: context.accept.percentiles(),
    };
  } catch (thrown) {
    await Promise.all(senders.map((sender) => sender.close(0)));
    throw thrown;
  }
}

function checkOptions(options: LoadOptions): void {
  const refuse = (place: string, got: number, allowed: string): never => {
    throw loadErrors.create('LOAD_OPTION_INVALID', { place, got: String(got), allowed });
  };
  if (!(options.rate >= 0)) refuse('rate', options.rate, 'messages a second, 0 for as many as the target takes');
  if (!(options.forMs > 0)) refuse('for', options.forMs, 'a duration such as 60s');
  if (!(options.connections >= 1 && options.connections <= 1000))
    refuse('connections', options.connections, '1 to 1000');
  if (!(options.bytes >= 1 && options.bytes <= 1_000_000)) refuse('bytes', options.bytes, '1 to 1000000');
  if (options.count !== undefined && !(options.count >= 1 && options.count < 4e9))
    refuse('count', options.count, '1 to 4000000000');
}

function createSenders(context: LoadContext): Sender[] {
  const { options } = context;
  const kinds: readonly Transport[] =
    options.transport !== 'mix'
      ? [options.transport]
      : options.ports.tls === undefined
        ? ['tcp', 'udp', 'http']
        : ['tcp', 'tls', 'udp', 'http'];
  return kinds.flatMap((kind) =>
    Array.from({ length: options.connections }, () => {
      const port = options.ports[kind] ?? defaultPorts[kind];
      if (kind === 'udp') return createUdpSender(context, port);
      return kind === 'http' ? createHttpSender(context, port) : createStreamSender(context, kind, port);
    }),
  );
}

/**
 * Hands each turn's share to the senders in rotation; what one does not take the others may. Returns how many were
 * sent.
 */
async function pace(options: LoadOptions, senders: readonly Sender[], started: number): Promise<number> {
  const { signal } = options;
  let sent = 0;
  let due = 0;
  let turn = started;
  let first = 0;
  let shown = { at: started, sent: 0 };
  for (;;) {
    const now = performance.now();
    const left = (options.count ?? Infinity) - sent;
    if (now - started >= options.forMs || left <= 0 || signal?.aborted === true) break;
    const limit = options.rate === 0 ? Infinity : Math.max(1, options.rate * (catchUpMs / 1000));
    due = options.rate === 0 ? Infinity : Math.min(limit, due + (options.rate * (now - turn)) / 1000);
    turn = now;
    const took = share(senders, first, Math.floor(Math.min(due, left, 1e6)));
    first += 1;
    sent += took;
    due -= took;
    if (now - shown.at >= progressMs) {
      options.onProgress?.({ sent, elapsedMs: now - started, rate: ((sent - shown.sent) * 1000) / (now - shown.at) });
      shown = { at: now, sent };
    }
    await sleep(options.rate === 0 ? 1 : turnMs, undefined, signal === undefined ? {} : { signal }).catch(
      () => undefined,
    );
  }
  const elapsedMs = performance.now() - started;
  options.onProgress?.({ sent, elapsedMs, rate: (sent * 1000) / Math.max(1, elapsedMs) });
  return sent;
}

function share(senders: readonly Sender[], first: number, count: number): number {
  const nowMs = Date.now();
  let left = count;
  for (let round = 0; round < senders.length && left > 0; round += 1) {
    const sender = at(senders, (first + round) % senders.length);
    left -= sender.send(Math.max(1, Math.min(left, Math.ceil(left / (senders.length - round)))), nowMs);
  }
  return count - left;
}
