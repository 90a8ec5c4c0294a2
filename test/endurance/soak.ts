/**
 * A steady load for a long time: memory, file descriptors, lag and latencies must stay where they are.
 * `npm run soak -- --for 30m [--share 0.7] [--rate <messages a second>]`: 70 % of the ceiling, which is measured first.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startProgram, workedOff, type Program } from '../program.js';
import { measureCeiling } from './ceiling.js';
import { accountProblems, accountText, settleAccount, type Account } from './account.js';
import {
  cpuSeconds,
  machine,
  openFiles,
  peakMegabytes,
  percentile,
  residentMegabytes,
  scrape,
  slopePerHour,
  unbalanced,
} from './figures.js';
import { loadInChild } from './load-process.js';
import { probeHttp, type Probe } from './probe.js';
import { durationOption, numberOption, runInScope, type Scope } from './scope.js';

interface SoakOptions {
  readonly forMs: number;
  /** Share of the ceiling, where no rate is given. */
  readonly share: number;
  readonly rate?: number | undefined;
  readonly ceilingMs: number;
  /** Time between two samples. */
  readonly sampleMs: number;
  readonly limits: SoakLimits;
  readonly print: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

interface SoakLimits {
  /** MiB an hour after the warm-up; undefined: too short to say. */
  readonly residentPerHour: number | undefined;
  readonly heapPerHour: number | undefined;
  readonly peakMegabytes: number;
  readonly files: number;
  /** Seconds of load that may lie between the topic and the store. */
  readonly lagSeconds: number;
  readonly p99Ms: number;
}

export const soakLimits: SoakLimits = {
  residentPerHour: 100,
  heapPerHour: 30,
  peakMegabytes: 1_800,
  files: 30,
  lagSeconds: 10,
  p99Ms: 1_000,
};

interface Sample {
  readonly at: number;
  readonly resident: number;
  readonly heap: number;
  readonly files: number;
  readonly lag: number;
  readonly p50: number;
  readonly p99: number;
  readonly stored: number;
}

interface SoakReport {
  readonly machine: string;
  readonly ceiling: number | undefined;
  readonly rate: number;
  readonly minutes: number;
  readonly sent: number;
  readonly stored: number;
  readonly cpuMicrosecondsPerMessage: number;
  /** MiB an hour, after a fifth of the time. */
  readonly residentPerHour: number;
  readonly heapPerHour: number;
  readonly resident: { readonly first: number; readonly last: number; readonly peak: number };
  readonly heap: { readonly first: number; readonly last: number };
  readonly files: { readonly least: number; readonly most: number };
  /** Messages in the topic that are not stored. */
  readonly lag: { readonly p50: number; readonly most: number };
  /** Milliseconds from POST to 202, one request at a time beside the load. */
  readonly post: {
    readonly count: number;
    readonly p50: number;
    readonly p99: number;
    readonly p999: number;
    readonly most: number;
  };
  readonly unbalanced: readonly string[];
  readonly refused: number;
  /** Per receiver. */
  readonly account: Account;
  readonly problems: readonly string[];
}

/**
 * The embedded store keeps rows in memory until a checkpoint, and blocks up to its limit: with the defaults that is a
 * sawtooth of a gigabyte and many minutes, and a slope over half an hour would say where on it the run began and ended.
 * Smaller bounds are reached in the first fifth of the run.
 */
const store = { embedded: { checkpoint_bytes: 8 * 2 ** 20, memory_bytes: 256 * 2 ** 20 } };

/**
 * An address of this run alone: what another program on the machine sends to a port of 127.0.0.1 that was its own
 * before would be counted here.
 */
const host = '127.0.0.77';
const receivers = ['gelf_tcp', 'gelf_udp', 'gelf_http'].map((type) => ({ type, host, port: 0 }));

export async function runSoak(scope: Pick<Scope, 'teardown'>, options: SoakOptions): Promise<SoakReport> {
  const program = await startProgram(scope, { settings: { log_level: 'error', store, receivers } });
  const { admin_port: admin } = await program.status();
  const pid = program.child.pid as number;
  const before = machine();
  const ceiling =
    options.rate === undefined ? (await measureCeiling(scope, program, options.ceilingMs, host)).perSecond : undefined;
  const rate = Math.round(options.rate ?? (ceiling as number) * options.share);
  options.print(
    `${before}\n  ${ceiling === undefined ? '' : `ceiling ${Math.round(ceiling)}, `}${rate} messages/s for ${(options.forMs / 60_000).toFixed(1)} minutes`,
  );
  const cpu = cpuSeconds(pid);
  const earlier = await scrape(admin);
  const probe = probeHttp(host, program.port('gelf-http'));
  const load = loadInChild(
    scope,
    { rate, forMs: options.forMs, transport: 'tcp', connections: 4, host, ports: { tcp: program.port('gelf-tcp') } },
    options.signal,
  );
  const samples = await sampleUntilEnd(program, admin, pid, probe, load, options);
  const { sent } = await load;
  await probe.stop();
  await workedOff(program, 120_000);
  const account = await settleAccount(program, admin, earlier, { tcp: sent, http: probe.latencies.length });
  const settled = await scrape(admin);
  const total = sent + probe.latencies.length;
  const report = {
    machine: before,
    ceiling,
    rate,
    minutes: options.forMs / 60_000,
    sent: total,
    stored: account.stored,
    cpuMicrosecondsPerMessage: ((cpuSeconds(pid) - cpu) / total) * 1e6,
    ...figures(samples, probe, pid),
    unbalanced: unbalanced(settled),
    refused: settled('sluice_messages_refused_total'),
    account,
  };
  return { ...report, problems: [...problemsOf(report, options), ...probe.failures.slice(0, 5)] };
}

async function sampleUntilEnd(
  program: Program,
  admin: number,
  pid: number,
  probe: Probe,
  load: Promise<unknown>,
  options: SoakOptions,
): Promise<Sample[]> {
  const samples: Sample[] = [];
  const ended = load.then(
    () => true,
    () => true,
  );
  const began = Date.now();
  for (let seen = 0; ; ) {
    if (await Promise.race([ended, wait(options.sampleMs, false)])) return samples;
    if (options.signal?.aborted === true) return samples;
    const metrics = await scrape(admin).catch(async (thrown: unknown) => {
      // It may be on its way out.
      await wait(1_000);
      throw new Error(
        `the program does not answer (${program.child.exitCode ?? program.child.signalCode ?? 'it runs'}):\n${program.output().slice(-5_000)}`,
        { cause: thrown },
      );
    });
    const fresh = probe.latencies.slice(seen);
    seen = probe.latencies.length;
    const sample: Sample = {
      at: Date.now(),
      resident: residentMegabytes(pid),
      heap: metrics('nodejs_heap_size_used_bytes') / 2 ** 20,
      files: openFiles(pid),
      lag: (await program.status()).lag,
      p50: percentile(fresh, 0.5),
      p99: percentile(fresh, 0.99),
      stored: metrics('sluice_documents_stored_total'),
    };
    const last = samples.at(-1);
    const perSecond = last === undefined ? 0 : ((sample.stored - last.stored) * 1000) / (sample.at - last.at);
    samples.push(sample);
    options.print(
      `  ${((sample.at - began) / 1000).toFixed(0).padStart(5)} s  stored ${Math.round(perSecond).toString().padStart(6)}/s  lag ${String(sample.lag).padStart(6)}  post p50 ${sample.p50.toFixed(1)} p99 ${sample.p99.toFixed(1)} ms  resident ${sample.resident.toFixed(0)} heap ${sample.heap.toFixed(0)} MiB  files ${sample.files}`,
    );
  }
}

function figures(
  samples: readonly Sample[],
  probe: Probe,
  pid: number,
): Omit<
  SoakReport,
  | 'machine'
  | 'ceiling'
  | 'rate'
  | 'minutes'
  | 'sent'
  | 'stored'
  | 'cpuMicrosecondsPerMessage'
  | 'unbalanced'
  | 'refused'
  | 'account'
  | 'problems'
> {
  const warm = samples.slice(Math.floor(samples.length / 5));
  const of = (key: 'resident' | 'heap'): { first: number; last: number } => ({
    first: warm[0]?.[key] ?? 0,
    last: warm.at(-1)?.[key] ?? 0,
  });
  const slope = (key: 'resident' | 'heap'): number =>
    slopePerHour(warm.map((sample) => ({ at: sample.at, value: sample[key] })));
  const files = warm.map((sample) => sample.files);
  const lags = warm.map((sample) => sample.lag);
  const post = probe.latencies;
  return {
    residentPerHour: slope('resident'),
    heapPerHour: slope('heap'),
    resident: { ...of('resident'), peak: peakMegabytes(pid) },
    heap: of('heap'),
    files: { least: Math.min(...files), most: Math.max(...files) },
    lag: { p50: percentile(lags, 0.5), most: Math.max(...lags) },
    post: {
      count: post.length,
      p50: percentile(post, 0.5),
      p99: percentile(post, 0.99),
      p999: percentile(post, 0.999),
      most: percentile(post, 1),
    },
  };
}

function problemsOf(report: Omit<SoakReport, 'problems'>, { limits }: SoakOptions): string[] {
  const found = [...report.unbalanced, ...accountProblems(report.account)];
  const limit = (what: string, value: number, most: number | undefined): void => {
    if (most !== undefined && value > most) found.push(`${what}: ${value.toFixed(1)}, at most ${most}`);
  };
  if (report.refused > 0) found.push(`${report.refused} messages were refused`);
  limit('resident memory, MiB an hour', report.residentPerHour, limits.residentPerHour);
  limit('heap, MiB an hour', report.heapPerHour, limits.heapPerHour);
  limit('resident memory, MiB', report.resident.peak, limits.peakMegabytes);
  limit('open files that come and go', report.files.most - report.files.least, limits.files);
  limit('lag, seconds of load', report.lag.p50 / report.rate, limits.lagSeconds);
  limit('POST to 202, 99th percentile, ms', report.post.p99, limits.p99Ms);
  return found;
}

export function summary(report: SoakReport): string {
  const { resident, heap, files, lag, post } = report;
  return (
    `${report.rate} messages/s for ${report.minutes.toFixed(1)} minutes: sent ${report.sent}, stored ${report.stored}, ${report.cpuMicrosecondsPerMessage.toFixed(1)} us of CPU a message\n${accountText(report.account)}\n` +
    `resident ${resident.first.toFixed(0)} to ${resident.last.toFixed(0)} MiB (${report.residentPerHour.toFixed(0)} an hour, peak ${resident.peak.toFixed(0)}), heap ${heap.first.toFixed(0)} to ${heap.last.toFixed(0)} MiB (${report.heapPerHour.toFixed(0)} an hour), files ${files.least} to ${files.most}\n` +
    `lag ${lag.p50} messages, at most ${lag.most}; POST to 202: p50 ${post.p50.toFixed(1)}, p99 ${post.p99.toFixed(1)}, p99.9 ${post.p999.toFixed(1)}, at most ${post.most.toFixed(0)} ms of ${post.count}`
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runInScope(async (scope, signal) => {
    const rate = numberOption('rate', 0);
    const forMs = durationOption('for', 1_800_000);
    const long = forMs >= 600_000;
    const report = await runSoak(scope, {
      forMs,
      share: numberOption('share', 0.7),
      rate: rate > 0 ? rate : undefined,
      ceilingMs: 10_000,
      sampleMs: 5_000,
      limits: long ? soakLimits : { ...soakLimits, residentPerHour: undefined, heapPerHour: undefined },
      print: (text) => {
        process.stdout.write(`${text}\n`);
      },
      signal,
    });
    process.stdout.write(`${summary(report)}\n${JSON.stringify(report)}\n`);
    for (const problem of report.problems) process.stderr.write(`not passed: ${problem}\n`);
    return report.problems.length === 0;
  });
}
