/**
 * Searches that arrive on their own clock while messages come in: how long they take from when they should have begun,
 * and what they cost the others.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { createRandom } from '../../load/random.js';
import { loadInChild } from '../../test/endurance/load-process.js';
import type { Scope } from '../../test/endurance/scope.js';
import { latencyText, percentile, scrape, type Scrape } from './figures.js';
import { createAsker, drawKind, kinds, type Asker } from './queries.js';
import type { World } from './world.js';

interface LoadOptions {
  /** Length of all windows with searches together; those without are as long. */
  readonly seconds: number;
  readonly searchesPerSecond: number;
  readonly messagesPerSecond: number;
  /** Seconds back from each search. */
  readonly range: number;
  readonly targetMs: number;
  readonly say: (line: string) => void;
}

interface Sample {
  readonly kind: string;
  readonly ms: number;
  readonly problem: string | undefined;
  readonly total: number;
}

interface Window {
  readonly stored: number;
  readonly seconds: number;
  readonly cpu: number;
  /** Mean seconds from receive to stored. */
  readonly lag: number;
  readonly oldest: number;
  readonly queued: number;
  readonly samples: readonly Sample[];
}

const rounds = 2;
const settleMs = 3_000;
/** Searches and messages that are not counted: a Java engine that has just started compiles what it runs meanwhile. */
const warmSeconds = 20;
/** The sender is stopped when the windows are over, however long the last searches take. */
const longestMs = 3_600_000;

export async function benchLoad(scope: Scope, world: World, options: LoadOptions): Promise<void> {
  const { say } = options;
  const asker = createAsker(world.api);
  for (const kind of [...kinds, ...kinds]) await asker.ask(kind, options.range);
  const windowSeconds = options.seconds / rounds;
  const stopping = new AbortController();
  const sending = loadInChild(
    scope,
    {
      rate: options.messagesPerSecond,
      forMs: longestMs,
      transport: 'tcp',
      connections: 4,
      ports: { tcp: world.program.port('gelf-tcp') },
    },
    stopping.signal,
  );
  // One that is killed at the end of a broken run is no problem of its own.
  sending.catch(() => undefined);
  await wait(settleMs);
  await openLoop(asker, options, warmSeconds, rounds);
  await wait(settleMs);
  const windows: { readonly quiet: Window; readonly searched: Window }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const quiet = await window(world, windowSeconds, async () => []);
    const searched = await window(world, windowSeconds, () => openLoop(asker, options, windowSeconds, round));
    windows.push({ quiet, searched });
    await wait(settleMs);
  }
  stopping.abort();
  const sent = await sending;
  say(`  sent ${sent.sent} messages, ${Math.round((sent.sent * 1000) / sent.elapsedMs)}/s`);
  for (const { quiet, searched } of windows)
    say(
      `  without searches ${windowText(quiet)}\n  with searches    ${windowText(searched)}: ${(searched.stored / searched.seconds / (quiet.stored / quiet.seconds)).toFixed(3)} times the rate`,
    );
  tell(
    windows.flatMap(({ searched }) => searched.samples),
    options,
  );
}

function windowText({ stored, seconds, cpu, lag, oldest, queued }: Window): string {
  return `${Math.round(stored / seconds)} stored/s, ${lag.toFixed(2)} s from receive to stored, oldest waiting ${oldest.toFixed(1)} s, ${(cpu / seconds).toFixed(2)} cores, at most ${queued} searches queued`;
}

function tell(samples: readonly Sample[], { say, targetMs }: LoadOptions): void {
  for (const { name } of kinds) {
    const own = samples.filter(({ kind }) => kind === name);
    if (own.length > 0)
      say(
        `  ${name.padEnd(16)} ${latencyText(own.map(({ ms }) => ms))}, ${Math.round(own.reduce((sum, { total }) => sum + total, 0) / own.length)} found`,
      );
  }
  const failed = samples.filter(({ problem }) => problem !== undefined);
  const p95 = percentile(
    samples.map(({ ms }) => ms).sort((one, other) => one - other),
    95,
  );
  say(
    `  ${'all'.padEnd(16)} ${latencyText(samples.map(({ ms }) => ms))}; ${failed.length} errors${failed.length > 0 ? ` (${failed[0]?.kind}: ${failed[0]?.problem})` : ''}; target p95 ${targetMs} ms: ${p95 <= targetMs && failed.length === 0 ? 'met' : 'MISSED'}`,
  );
}

/** What happened to the program while the work ran, from its own counters. */
async function window(world: World, seconds: number, work: () => Promise<readonly Sample[]>): Promise<Window> {
  const { admin_port: port } = await world.program.status();
  const before = await scrape(port);
  const [cpu, began] = [world.cpuSeconds(), performance.now()];
  let oldest = 0;
  let queued = 0;
  const watching = setInterval(() => {
    void scrape(port)
      .then((now) => {
        oldest = Math.max(oldest, now.sum('sluice_oldest_unprocessed_seconds'));
        queued = Math.max(queued, now.sum('sluice_searches_queued'));
      })
      .catch(() => undefined);
  }, 1_000);
  const [samples] = await Promise.all([work(), wait(seconds * 1000)]);
  clearInterval(watching);
  const after = await scrape(port);
  const took = (performance.now() - began) / 1000;
  const grown = (name: string, label?: string): number => difference(before, after, name, label);
  return {
    samples,
    oldest,
    queued,
    stored: grown('sluice_documents_stored_total'),
    seconds: took,
    cpu: world.cpuSeconds() - cpu,
    lag: grown('sluice_stored_seconds_sum') / Math.max(1, grown('sluice_stored_seconds_count')),
  };
}

function difference(before: Scrape, after: Scrape, name: string, label?: string): number {
  return after.sum(name, label) - before.sum(name, label);
}

/** Random arrivals (Poisson), which wait for nobody; each is timed from when it was due. */
async function openLoop(
  asker: Asker,
  { searchesPerSecond, range }: LoadOptions,
  seconds: number,
  seed: number,
): Promise<readonly Sample[]> {
  const random = createRandom(seed + 41);
  const began = performance.now();
  const under: Promise<Sample>[] = [];
  for (let due = 0; ; ) {
    due += (-Math.log((random() + 1) / 2 ** 32) * 1000) / searchesPerSecond;
    if (due >= seconds * 1000) break;
    const late = began + due - performance.now();
    if (late > 0) await wait(late);
    const [kind, at] = [drawKind(random), began + due];
    under.push(
      asker.ask(kind, range).then(
        ({ problem, total }) => ({ kind: kind.name, ms: performance.now() - at, problem, total }),
        (error: unknown) => ({ kind: kind.name, ms: performance.now() - at, problem: String(error), total: 0 }),
      ),
    );
  }
  return Promise.all(under);
}

/** Over everything that is stored, one after the other. */
export async function benchWhole(
  world: World,
  repeats: number,
  targetMs: number,
  say: (line: string) => void,
): Promise<void> {
  const asker = createAsker(world.api, 17);
  const all: number[] = [];
  for (const kind of kinds) {
    const times: number[] = [];
    let problem: string | undefined;
    let total = 0;
    const cpu = world.cpuSeconds();
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      const asked = await asker.ask(kind, 0);
      times.push(asked.ms);
      problem ??= asked.problem;
      total = asked.total;
    }
    all.push(...times);
    say(
      `  ${kind.name.padEnd(16)} ${latencyText(times)}, ${(((world.cpuSeconds() - cpu) * 1000) / repeats).toFixed(0)} ms of CPU each, ${total} found${problem === undefined ? '' : `; FAILED: ${problem}`}`,
    );
  }
  const p95 = percentile(
    all.sort((one, other) => one - other),
    95,
  );
  say(`  ${'all'.padEnd(16)} ${latencyText(all)}; target p95 ${targetMs} ms: ${p95 <= targetMs ? 'met' : 'MISSED'}`);
}
