/**
 * Hostile senders against the real program, with well-behaved ones beside them. First the honest senders alone, then
 * the attacks, one after the other (those that work by lasting run beside all).
 * `npm run hostile -- --for 10m [--seed 1] [--only <part of a name>]`.
 */
import { cpus, loadavg } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startProgram, until, workedOff, type Program } from '../program.js';
import { createCertificates, opensslMissing } from '../receivers/certificates.js';
import { createAttackers, type Attackers } from './attackers.js';
import { smuggledMark } from './attacks/http.js';
import { attacks } from './attacks/registry.js';
import {
  machine,
  openFiles,
  residentMegabytes,
  scrape,
  slopePerHour,
  unbalanced,
  type Point,
  type Samples,
} from './figures.js';
import { latencyBetween, startHonest, type Honest } from './honest.js';
import { durationOption, numberOption, runInScope, type Scope } from './scope.js';
import { reckonHonest, type HonestReckoning } from './stored.js';
import { startTail, type Tail } from './tail.js';

interface HostileOptions {
  readonly attackMs: number;
  readonly aloneMs: number;
  readonly seed: number;
  /** Only attacks whose name contains this. */
  readonly only?: string | undefined;
  readonly print: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

interface Latency {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
}

interface HostileReport extends HonestReckoning {
  readonly alone: { readonly http: Latency; readonly tcp: Latency };
  readonly attacked: { readonly http: Latency; readonly tcp: Latency };
  /** Ratios of the 99th percentiles. A percentile below `floorMs` counts as `floorMs`. */
  readonly ratio: { readonly http: number; readonly tcp: number };
  readonly failures: readonly string[];
  /** Counts that do not add up. */
  readonly unbalanced: readonly string[];
  readonly smuggled: number;
  readonly kernelDrops: number;
  readonly refused: number;
  readonly shed: number;
  readonly memory: {
    readonly before: number;
    readonly peak: number;
    readonly after: number;
    readonly slopePerHour: number;
  };
  readonly files: { readonly before: number; readonly after: number };
}

/** A 99th percentile below this is the resolution of the tail and of timers. */
const floorMs = 10;
/** Messages of the honest senders that may be on their way at any moment. */
const honestLag = 2_000;
/**
 * No bound of the receivers is above it: 256 MiB of unfinished frames, 128 MiB of chunks, 128 MiB of bodies, 64 MiB
 * waiting, beside the store's own.
 */
const memoryBoundMegabytes = 1_400;

export async function runHostile(scope: Pick<Scope, 'teardown'>, options: HostileOptions): Promise<HostileReport> {
  const program = await startProgram(scope, { settings: settings(scope) });
  const { admin_port: admin, receivers } = await program.status();
  const target = {
    tcp: program.port('gelf-tcp'),
    udp: program.port('gelf-udp'),
    http: program.port('gelf-http'),
    tls: receivers.find(({ name }) => name === 'gelf-tls')?.port,
  };
  const pid = program.child.pid as number;
  const attackers = await createAttackers(scope, target, options.seed);
  const tail = await startTail(program.settingsFile);
  const honest = await startHonest(target);
  const memory: Point[] = [];
  const sampler = setInterval(() => {
    memory.push({ at: Date.now(), value: residentMegabytes(pid) });
  }, 250);
  try {
    await wait(1_500);
    const began = Date.now();
    await wait(options.aloneMs);
    const files = openFiles(pid);
    const from = Date.now();
    const before = {
      http: latencyBetween(honest.accepted, began, from),
      tcp: latencyBetween(tail.appended, began, from),
    };
    options.print(`${machine()}, seed ${options.seed}`);
    options.print(line('honest senders alone', before.http, before.tcp, memory.at(-1)?.value ?? 0));
    const counts = await attackAll(attackers, honest, tail, memory, options);
    const to = Date.now();
    const attacked = { http: latencyBetween(honest.accepted, from, to), tcp: latencyBetween(tail.appended, from, to) };
    options.print(line('all attacks', attacked.http, attacked.tcp, Math.max(...memory.map(({ value }) => value))));
    const after = await aloneAgain(program, honest, tail, options);
    const alone = { http: slower(before.http, after.http), tcp: slower(before.tcp, after.tcp) };
    await honest.stop();
    return {
      ...(await settle(program, admin, honest, tail, counts)),
      alone,
      attacked,
      ratio: { http: ratio(alone.http, attacked.http), tcp: ratio(alone.tcp, attacked.tcp) },
      ...memoryOf(memory, from),
      files: { before: files, after: openFiles(pid) },
    };
  } finally {
    clearInterval(sampler);
  }
}

/**
 * Once more when the attacks are over and worked off: whatever else the machine does changes with time, and the slower
 * of both is what they are compared with.
 */
async function aloneAgain(
  program: Program,
  honest: Honest,
  tail: Tail,
  options: HostileOptions,
): Promise<{ readonly http: Latency; readonly tcp: Latency }> {
  await until(
    async () => ((await program.status()).lag < honestLag ? true : undefined),
    120_000,
    () => 'the attacks were not worked off',
  );
  await wait(500);
  const from = Date.now();
  await wait(options.aloneMs);
  const after = {
    http: latencyBetween(honest.accepted, from, Date.now()),
    tcp: latencyBetween(tail.appended, from, Date.now()),
  };
  options.print(line('alone again', after.http, after.tcp, residentMegabytes(program.child.pid as number)));
  return after;
}

const slower = (a: Latency, b: Latency): Latency => (a.p99 >= b.p99 ? a : b);

function settings(scope: Pick<Scope, 'teardown'>): Record<string, unknown> {
  const receivers: Record<string, unknown>[] = ['gelf_tcp', 'gelf_udp', 'gelf_http'].map((type) => ({
    type,
    host: '127.0.0.1',
    port: 0,
  }));
  if (opensslMissing === false) {
    const { server } = createCertificates(scope);
    receivers.push({
      type: 'gelf_tcp',
      name: 'gelf-tls',
      host: '127.0.0.1',
      port: 0,
      tls: { enabled: true, cert_file: server.cert, key_file: server.key },
    });
  }
  // Its own limit would be reached in the course of the attacks, and say nothing of the receivers.
  return {
    receivers,
    log_level: 'error',
    store: { embedded: { checkpoint_bytes: 32 * 2 ** 20, memory_bytes: 256 * 2 ** 20 } },
  };
}

const ratio = (alone: Latency, attacked: Latency): number =>
  Math.max(attacked.p99, floorMs) / Math.max(alone.p99, floorMs);

function line(name: string, http: Latency, tcp: Latency, megabytes: number): string {
  const part = (title: string, latency: Latency): string =>
    `${title} p50 ${latency.p50.toFixed(1).padStart(6)} p99 ${latency.p99.toFixed(1).padStart(7)} ms`;
  return `  ${name.padEnd(24)} ${part('HTTP', http)}   ${part('TCP', tcp)}   ${megabytes.toFixed(0)} MiB`;
}

/** Attack by attack; returns what the attackers counted. */
async function attackAll(
  attackers: Attackers,
  honest: Honest,
  tail: Tail,
  memory: readonly Point[],
  options: HostileOptions,
): Promise<Map<string, Readonly<Record<string, number>>>> {
  const chosen = attacks.filter(({ name }) => options.only === undefined || name.includes(options.only));
  const lasting = chosen.filter((attack) => attack.lasts);
  const scheduler = chosen.filter((attack) => !attack.lasts);
  const counts = new Map<string, Readonly<Record<string, number>>>();
  for (const { name } of lasting) attackers.start(name);
  const shareMs = options.attackMs / Math.max(1, scheduler.length);
  const one = async (name: string): Promise<void> => {
    const from = Date.now();
    await wait(shareMs, undefined, options.signal === undefined ? {} : { signal: options.signal }).catch(
      () => undefined,
    );
    options.print(
      line(
        name,
        latencyBetween(honest.accepted, from, Date.now()),
        latencyBetween(tail.appended, from, Date.now()),
        memory.at(-1)?.value ?? 0,
      ),
    );
  };
  if (scheduler.length === 0) await one(lasting.map(({ name }) => name).join(', '));
  for (const { name } of scheduler) {
    if (options.signal?.aborted === true) break;
    attackers.start(name);
    await one(name);
    counts.set(name, await attackers.stop(name));
  }
  for (const { name } of lasting) counts.set(name, await attackers.stop(name));
  return counts;
}

type Settled = Omit<HostileReport, 'alone' | 'attacked' | 'ratio' | 'memory' | 'files'>;

/** Waits until the chunk sets have expired and everything is stored, then compares. */
async function settle(
  program: Program,
  admin: number,
  honest: Honest,
  tail: Tail,
  counts: ReadonlyMap<string, Readonly<Record<string, number>>>,
): Promise<Settled> {
  const samples = await until(
    async () => {
      const now: Samples = await scrape(admin);
      return now('sluice_chunk_sets_waiting') === 0 &&
        now('sluice_messages_waiting') === 0 &&
        unbalanced(now).length === 0
        ? now
        : undefined;
    },
    15_000,
    () => 'the counts do not add up',
  ).catch(() => scrape(admin));
  await workedOff(program, 120_000);
  await tail.stop();
  const problems = unbalanced(samples);
  const datagrams = honest.sent().udp + sum(counts, 'datagrams');
  const arrived = samples('sluice_datagrams_received_total') + samples('sluice_datagrams_dropped_total');
  if (datagrams !== arrived)
    problems.push(`gelf-udp: ${datagrams} datagrams were sent, ${arrived} were received or dropped by the kernel`);
  const opened = samples('sluice_connections_opened_total');
  const closed = samples('sluice_connections_closed_total');
  if (opened !== closed + samples('sluice_connections_open'))
    problems.push(`connections: opened ${opened} is not closed ${closed} + open ${samples('sluice_connections_open')}`);
  return {
    ...(await reckonHonest(program, tail.seen, honest.sent())),
    failures: honest.failures,
    unbalanced: problems,
    smuggled: await smuggledStored(program),
    kernelDrops: samples('sluice_datagrams_dropped_total'),
    refused: samples('sluice_messages_refused_total'),
    shed: samples('sluice_messages_shed_total'),
  };
}

const sum = (counts: ReadonlyMap<string, Readonly<Record<string, number>>>, what: string): number =>
  [...counts.values()].reduce((total, count) => total + (count[what] ?? 0), 0);

async function smuggledStored(program: Program): Promise<number> {
  await program.control.request('POST', '/refresh', {});
  return (
    (await program.control.request('POST', '/search', { query: `message:"${smuggledMark}"`, limit: 0 })) as {
      total: number;
    }
  ).total;
}

function memoryOf(memory: readonly Point[], from: number): Pick<HostileReport, 'memory'> {
  const during = memory.filter(({ at }) => at >= from);
  return {
    memory: {
      before: memory.find(({ at }) => at >= from)?.value ?? 0,
      peak: Math.max(...memory.map(({ value }) => value)),
      after: memory.at(-1)?.value ?? 0,
      slopePerHour: slopePerHour(during.slice(Math.floor(during.length / 2))),
    },
  };
}

/**
 * On a machine with several times more to do than it has cores, the scheduler decides latencies, and nothing is said
 * about them.
 */
function latencyCounts(): boolean {
  return (loadavg()[0] ?? 0) <= 3 * cpus().length;
}

/** Why the run does not count as passed; empty when it does. */
export function complaints(report: HostileReport, latency = latencyCounts()): string[] {
  const found = [...report.unbalanced, ...report.failures.slice(0, 5)];
  for (const by of ['tcp', 'http', 'udp'] as const) {
    const { sent, seen } = report.honest[by];
    if (by === 'udp' ? sent - seen > report.kernelDrops + report.shed : sent !== seen)
      found.push(`${by}: ${sent} honest messages were sent, ${seen} stand in the topic`);
  }
  if (report.doubled > 0 || report.outOfOrder > 0)
    found.push(`honest messages doubled ${report.doubled}, out of order ${report.outOfOrder}`);
  if (report.missing > 0 || report.storedTwice > 0)
    found.push(
      `of the topic's messages ${report.missing} are missing in the store, ${report.storedTwice} are there twice`,
    );
  if (latency && report.ratio.http >= 5)
    found.push(`HTTP: the 99th percentile rose ${report.ratio.http.toFixed(1)} times`);
  if (latency && report.ratio.tcp >= 5)
    found.push(`TCP: the 99th percentile rose ${report.ratio.tcp.toFixed(1)} times`);
  if (report.smuggled > 0) found.push(`${report.smuggled} messages were smuggled in`);
  if (report.memory.peak > memoryBoundMegabytes) found.push(`memory rose to ${report.memory.peak.toFixed(0)} MiB`);
  return found;
}

export function summary(report: HostileReport): string {
  const { honest, memory, files } = report;
  const part = (by: 'tcp' | 'http' | 'udp'): string => `${by} ${honest[by].seen} of ${honest[by].sent}`;
  return (
    `honest messages accepted: ${part('tcp')}, ${part('http')}, ${part('udp')}; doubled ${report.doubled}, out of order ${report.outOfOrder}, missing in the store ${report.missing}, stored twice ${report.storedTwice}\n` +
    `p99 beside the attacks: HTTP x ${report.ratio.http.toFixed(2)}, TCP x ${report.ratio.tcp.toFixed(2)}; refused ${report.refused}, shed ${report.shed}, kernel drops ${report.kernelDrops}, smuggled ${report.smuggled}\n` +
    `memory ${memory.before.toFixed(0)} MiB before, ${memory.peak.toFixed(0)} at the most, ${memory.after.toFixed(0)} after, second half ${memory.slopePerHour.toFixed(0)} MiB an hour; open files ${files.before} before, ${files.after} after`
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runInScope(async (scope, signal) => {
    const only = process.argv.indexOf('--only');
    const report = await runHostile(scope, {
      attackMs: durationOption('for', 600_000),
      aloneMs: 10_000,
      seed: numberOption('seed', Date.now() % 1_000_000),
      only: only < 0 ? undefined : process.argv[only + 1],
      print: (text) => {
        process.stdout.write(`${text}\n`);
      },
      signal,
    });
    const problems = complaints(report);
    process.stdout.write(`${summary(report)}\n${JSON.stringify({ ...report, problems })}\n`);
    for (const problem of problems) process.stderr.write(`not passed: ${problem}\n`);
    return problems.length === 0;
  });
}
