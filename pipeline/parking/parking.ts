/** Parking as the processor sees it: which sets are drained here, how far each drain is, what people are shown. */
import { errorText } from '../../core/errors.js';
import { buildMetrics, type Registry } from '../../core/metrics.js';
import type { DeliverContext } from '../settle/context.js';
import type { Consumer, ConsumeOptions } from '../../topics/contract.js';
import type { Blockage, Blockages } from '../write/blockages.js';
import { createDrain } from './drain.js';
import { drainGroup, parkingTopic } from './envelope.js';
import { parkingMetrics } from './metrics.js';
import type { ParkingTopics } from './topics.js';

/** How often partitions that are parked ask whether they are drained. */
const checkMs = 500;
/** A drain without work goes on for this long: the set may be parked again soon. */
const lingerMs = 10_000;
/** The topic is read for its oldest message this often at the most. */
const oldestMs = 5_000;
/** For a drain that has nothing more to do. */
const endMs = 5_000;

export interface ParkedSet {
  readonly index_set: string;
  /** `blocked`: an index takes no writes. `draining`: what is parked is being stored. */
  readonly state: 'blocked' | 'draining' | 'drained';
  readonly messages: number;
  readonly bytes: number;
  readonly oldest_age_seconds: number;
  readonly index?: string;
  readonly code?: string;
  readonly reason?: string;
  readonly blocked_since?: string;
}

export interface Parking {
  /** `parked`: the sets that partitions of this process have parked. `check`: let them ask whether they are drained. */
  start(parked: () => ReadonlySet<string>, check: () => Promise<void>): void;
  stop(deadlineMs: number): Promise<void>;
  list(): Promise<readonly ParkedSet[]>;
  collect(): void;
}

export interface ParkingOptions {
  /** With rule sets of its own, so that draining is not counted as routing. */
  readonly deliver: DeliverContext;
  readonly parkingTopics: ParkingTopics;
  readonly blockages: Blockages;
  readonly prefix: string;
  readonly group: string;
  readonly batches: Pick<ConsumeOptions, 'maxBatchBytes' | 'maxBatchRecords'>;
  /** How often topics are looked at that no partition of this process has parked: another process may have left something. */
  readonly sweepMs: number;
  readonly registry: Registry;
}

interface Drain {
  readonly consumer: Promise<Consumer>;
  neededAt: number;
}

interface Seen {
  readonly messages: number;
  readonly bytes: number;
  readonly oldest: number | undefined;
}

export function createParking(options: ParkingOptions): Parking {
  const { parkingTopics, blockages } = options;
  const stopping = new AbortController();
  /** A drain that holds ends at once: nothing is lost by that. Outputs got the messages before they were parked. */
  const deliver = {
    ...options.deliver,
    signal: stopping.signal,
    route: { ...options.deliver.route, forwarder: undefined },
  };
  const { log, topics, ledger } = deliver;
  const metrics = buildMetrics(options.registry, parkingMetrics);
  const drains = new Map<string, Drain>();
  const seen = new Map<string, Seen>();
  const lookedAt = new Map<
    string,
    { readonly at: number; readonly drainedTo: number; readonly oldest: number | undefined; readonly bytes: number }
  >();
  let parkedHere: () => ReadonlySet<string> = () => new Set();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  let sweptAt = -Infinity;

  const open = async (indexSet: string): Promise<Consumer> => {
    await parkingTopics.ensure(indexSet);
    const consumer = await topics.consume(
      {
        ...options.batches,
        group: drainGroup(options.group, indexSet),
        topics: [parkingTopic(options.prefix, indexSet)],
        concurrency: 1,
      },
      createDrain({ deliver, metrics, indexSet }),
    );
    consumer.finished.catch((error: unknown) => {
      log.error(
        { index_set: indexSet, error: errorText(error) },
        'the drain of a parking topic ended; it is begun anew',
      );
      drains.delete(indexSet);
    });
    return consumer;
  };

  const need = (indexSet: string): void => {
    const known = drains.get(indexSet);
    if (known !== undefined) {
      known.neededAt = performance.now();
      return;
    }
    log.info({ index_set: indexSet }, 'the drain of a parking topic begins');
    const consumer = open(indexSet);
    drains.set(indexSet, { consumer, neededAt: performance.now() });
    consumer.catch((error: unknown) => {
      log.warn({ index_set: indexSet, error: errorText(error) }, 'a parking topic cannot be drained yet; trying again');
      drains.delete(indexSet);
    });
  };

  const look = async (indexSet: string): Promise<void> => {
    const { drainedTo, logEnd, movedAt } = await parkingTopics.progress(indexSet, 'now');
    blockages.moved(indexSet, movedAt);
    const messages = Math.max(0, logEnd - drainedTo);
    if (messages === 0) {
      seen.set(indexSet, { messages, bytes: 0, oldest: undefined });
      return;
    }
    let last = lookedAt.get(indexSet);
    if (last === undefined || (last.drainedTo !== drainedTo && performance.now() - last.at > oldestMs)) {
      const record = await parkingTopics.oldest(indexSet, drainedTo);
      last = { at: performance.now(), drainedTo, oldest: record?.timestamp, bytes: record?.value.length ?? 0 };
      lookedAt.set(indexSet, last);
    }
    seen.set(indexSet, {
      messages,
      bytes: Math.round(messages * (parkingTopics.meanBytes(indexSet) || last.bytes)),
      oldest: last.oldest,
    });
  };

  const tick = async (check: () => Promise<void>): Promise<void> => {
    const parked = parkedHere();
    const sweep = performance.now() - sweptAt >= options.sweepMs;
    const looked = new Set([...parked, ...drains.keys(), ...(sweep ? await ledger.parkingSets() : [])]);
    if (sweep) sweptAt = performance.now();
    for (const indexSet of looked) {
      await look(indexSet);
      if (parked.has(indexSet) || (seen.get(indexSet)?.messages ?? 0) > 0) need(indexSet);
    }
    if (parked.size > 0) await check();
    for (const [indexSet, drain] of drains) {
      if (performance.now() - drain.neededAt < lingerMs) continue;
      drains.delete(indexSet);
      await drain.consumer.then(
        (consumer) => consumer.stop(endMs),
        () => undefined,
      );
      await parkingTopics.trim(indexSet);
      log.info({ index_set: indexSet }, 'a parking topic is drained');
    }
  };

  const schedule = (check: () => Promise<void>): void => {
    timer = setTimeout(() => {
      running = tick(check)
        .catch((error: unknown) =>
          log.warn({ error: errorText(error) }, 'parking topics could not be looked at; trying again'),
        )
        .finally(() => {
          if (!stopped) schedule(check);
        });
    }, checkMs).unref();
  };

  const describe = (indexSet: string): ParkedSet => {
    const { messages, bytes, oldest } = seen.get(indexSet) ?? { messages: 0, bytes: 0, oldest: undefined };
    const blockage = blockages.of(indexSet);
    const state =
      blockage !== undefined ? 'blocked' : messages > 0 || parkedHere().has(indexSet) ? 'draining' : 'drained';
    return {
      index_set: indexSet,
      state,
      messages,
      bytes,
      oldest_age_seconds: oldest === undefined ? 0 : Math.max(0, Math.round((Date.now() - oldest) / 1000)),
      ...(blockage === undefined ? {} : facts(blockage)),
    };
  };

  return {
    start(parked, check) {
      parkedHere = parked;
      schedule(check);
    },
    async stop(deadlineMs) {
      stopped = true;
      stopping.abort();
      clearTimeout(timer);
      await running;
      await Promise.all(
        [...drains.values()].map(({ consumer }) =>
          consumer.then(
            (opened) => opened.stop(deadlineMs),
            () => undefined,
          ),
        ),
      );
      drains.clear();
    },
    async list() {
      const known = new Set([
        ...(await ledger.parkingSets()),
        ...[...blockages.all().values()].map(({ indexSet }) => indexSet),
      ]);
      for (const indexSet of known) await look(indexSet);
      return [...known].sort().map(describe);
    },
    collect() {
      for (const indexSet of new Set([
        ...seen.keys(),
        ...[...blockages.all().values()].map((blockage) => blockage.indexSet),
      ])) {
        const { state, messages, bytes, oldest_age_seconds: age } = describe(indexSet);
        const label = { index_set: indexSet };
        metrics.parkingMessages.set(label, messages);
        metrics.parkingBytes.set(label, bytes);
        metrics.parkingOldestAge.set(label, age);
        metrics.parkingState.set(label, { drained: 0, draining: 1, blocked: 2 }[state]);
      }
    },
  };
}

function facts({
  index,
  code,
  reason,
  since,
}: Blockage & { readonly index: string }): Pick<ParkedSet, 'index' | 'code' | 'reason' | 'blocked_since'> {
  return { index, code, reason, blocked_since: new Date(since).toISOString() };
}
