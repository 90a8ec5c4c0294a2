/**
 * Three times what the program can take, over UDP and TCP at once: UDP sheds and every datagram is counted, TCP stalls
 * its senders, memory stays where it is, and the moment the load falls back everything is taken again.
 * `npm run overload -- --for 60s`.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readKernelDrops } from '../../receivers/listen/kernel-drops.js';
import { startProgram, until, workedOff, type Program } from '../program.js';
import { measureCeiling } from './ceiling.js';
import {
  kernelQueues,
  machine,
  residentMegabytes,
  scrape,
  slopePerHour,
  unbalanced,
  type Point,
  type Samples,
} from './figures.js';
import { datagramsInChild, loadInChild, stalledInChild } from './load-process.js';
import { durationOption, numberOption, runInScope, type Scope } from './scope.js';
import type { StalledRun } from './stall-process.js';

interface OverloadOptions {
  readonly ceilingMs: number;
  readonly overloadMs: number;
  /** Multiple of the ceiling, half of it over UDP and half over TCP. */
  readonly times: number;
  readonly print: (line: string) => void;
}

interface OverloadReport {
  readonly ceiling: number;
  readonly offered: number;
  readonly udp: {
    readonly sent: number;
    readonly received: number;
    readonly kernelDrops: number;
    readonly kernelSays: number | undefined;
    readonly decoded: number;
    readonly refused: number;
    readonly shed: number;
  };
  readonly tcp: StalledRun & {
    /** What the receiver counted of the overload. */
    readonly received: number;
    /**
     * Most connections at a time that the receiver did not read, and most bytes that the kernel held for it and for the
     * senders.
     */
    readonly paused: number;
    readonly unreadBytes: number;
    readonly unsentBytes: number;
  };
  readonly memory: { readonly ceiling: number; readonly peak: number; readonly slopePerHour: number };
  /** Seconds from the end of the overload until half the ceiling was taken as offered, nothing shed. */
  readonly recoverySeconds: number;
  readonly backlogSeconds: number;
  readonly stored: number;
  readonly appended: number;
  readonly unbalanced: readonly string[];
}

/**
 * A topic on disk takes far more than the rules and the store behind it, until it is full: it keeps this much of each
 * partition, and refuses to append while it holds what is not processed yet. So overload reaches the senders within a
 * second instead of within an hour.
 */
const topics = {
  max_waiting_bytes: 8 * 2 ** 20,
  retention_bytes: 8 * 2 ** 20,
  embedded: { segment_bytes: 2 * 2 ** 20 },
};
/**
 * The embedded store keeps blocks in memory up to its limit, with the default for as long as the overload lasts: a rise
 * would measure that.
 */
const store = { embedded: { checkpoint_bytes: 32 * 2 ** 20, memory_bytes: 256 * 2 ** 20 } };
const memoryRiseMegabytes = 400;

export async function runOverload(scope: Pick<Scope, 'teardown'>, options: OverloadOptions): Promise<OverloadReport> {
  const program = await startProgram(scope, { settings: { log_level: 'error', topics, store } });
  const { admin_port: admin } = await program.status();
  const pid = program.child.pid as number;
  const memory: Point[] = [];
  const sampler = setInterval(() => {
    memory.push({ at: Date.now(), value: residentMegabytes(pid) });
  }, 200);
  try {
    const ceiling = (await measureCeiling(scope, program, options.ceilingMs)).perSecond;
    const before = { samples: await scrape(admin), megabytes: residentMegabytes(pid) };
    const offered = Math.round(ceiling * options.times);
    options.print(
      `${machine()}\n  ceiling ${Math.round(ceiling)} messages/s, ${before.megabytes.toFixed(0)} MiB; now ${offered} a second for ${options.overloadMs / 1000} s`,
    );
    memory.length = 0;
    const sent = await overload(scope, program, admin, offered, options.overloadMs);
    const during = memory.slice(Math.floor(memory.length / 3));
    const recovered = await recovery(scope, program, admin, ceiling / 2, options.print);
    const began = performance.now();
    await workedOff(program, 600_000);
    const backlogSeconds = (performance.now() - began) / 1000;
    // Datagrams that the kernel still held when the lag was read are appended after it.
    const isSettled = (now: Samples): boolean =>
      unbalanced(now).length === 0 && now('sluice_messages_appended_total') === now('sluice_documents_stored_total');
    const settled = await until(
      async () => {
        const now = await scrape(admin);
        return isSettled(now) ? now : undefined;
      },
      15_000,
      () => 'the counts do not add up',
    ).catch(() => scrape(admin));
    await settledDrops();
    return {
      ceiling,
      offered,
      recoverySeconds: recovered.seconds,
      backlogSeconds,
      udp: {
        sent: sent.udp + recoveryDatagrams,
        ...udpOf(await scrape(admin)),
        kernelSays: readKernelDrops('127.0.0.1', program.port('gelf-udp')),
      },
      tcp: { ...sent.tcp, received: tcpReceived(settled) - tcpReceived(before.samples) - recovered.sent },
      memory: {
        ceiling: before.megabytes,
        peak: Math.max(...memory.map(({ value }) => value)),
        slopePerHour: slopePerHour(during),
      },
      stored: settled('sluice_documents_stored_total'),
      appended: settled('sluice_messages_appended_total'),
      unbalanced: unbalanced(settled),
    };
  } finally {
    clearInterval(sampler);
  }
}

/** The kernel is asked for its drops each second. */
const settledDrops = (): Promise<void> => wait(1_200);

interface Sent {
  readonly udp: number;
  readonly tcp: Omit<OverloadReport['tcp'], 'received'>;
}

async function overload(
  scope: Pick<Scope, 'teardown'>,
  program: Program,
  admin: number,
  offered: number,
  forMs: number,
): Promise<Sent> {
  const half = offered / 2;
  const port = program.port('gelf-tcp');
  const most = { paused: 0, unreadBytes: 0, unsentBytes: 0 };
  const sampler = setInterval(() => {
    const { unread, unsent } = kernelQueues(port);
    most.unreadBytes = Math.max(most.unreadBytes, unread);
    most.unsentBytes = Math.max(most.unsentBytes, unsent);
    void scrape(admin).then(
      (samples) => {
        most.paused = Math.max(most.paused, samples('sluice_connections_paused', { receiver: 'gelf-tcp' }));
      },
      () => undefined,
    );
  }, 250);
  const [udp, tcp] = await Promise.all([
    datagramsInChild(scope, program.port('gelf-udp'), Math.round((half * forMs) / 1000), half),
    stalledInChild(scope, port, 4, half, forMs),
  ]);
  clearInterval(sampler);
  return { udp, tcp: { ...tcp, ...most } };
}

const tcpReceived = (samples: Samples): number => samples('sluice_messages_received_total', { receiver: 'gelf-tcp' });

const recoveryDatagrams = 2_000;

/**
 * A load that the program can take: how long until a whole second passes in which all that is offered is appended and
 * nothing is lost.
 */
async function recovery(
  scope: Pick<Scope, 'teardown'>,
  program: Program,
  admin: number,
  rate: number,
  print: (line: string) => void,
): Promise<{ readonly seconds: number; readonly sent: number }> {
  const began = performance.now();
  const load = loadInChild(scope, {
    rate,
    forMs: 8_000,
    transport: 'tcp',
    connections: 4,
    ports: { tcp: program.port('gelf-tcp') },
  });
  const datagrams = datagramsInChild(scope, program.port('gelf-udp'), recoveryDatagrams, 250);
  const lost = (samples: Samples): number =>
    samples('sluice_messages_shed_total') + samples('sluice_datagrams_dropped_total');
  let found: number | undefined;
  let last = { at: began, samples: await scrape(admin) };
  while (found === undefined && performance.now() - began < 7_500) {
    await wait(1_000 - ((performance.now() - began) % 1_000));
    const now = { at: performance.now(), samples: await scrape(admin) };
    const appended = now.samples('sluice_messages_appended_total') - last.samples('sluice_messages_appended_total');
    const perSecond = (appended * 1000) / (now.at - last.at);
    print(
      `  ${((now.at - began) / 1000).toFixed(1)} s after the load fell back to ${Math.round(rate)}/s: ${Math.round(perSecond)} appended a second, ${lost(now.samples) - lost(last.samples)} lost`,
    );
    if (perSecond >= rate * 0.95 && lost(now.samples) === lost(last.samples)) found = (last.at - began) / 1000;
    last = now;
  }
  const [{ sent }] = await Promise.all([load, datagrams]);
  return { seconds: found ?? Infinity, sent };
}

function udpOf(samples: Samples): Omit<OverloadReport['udp'], 'sent' | 'kernelSays'> {
  const labels = { receiver: 'gelf-udp' };
  const count = (what: string): number => samples(`sluice_${what}_total`, labels);
  return {
    received: count('datagrams_received'),
    kernelDrops: count('datagrams_dropped'),
    decoded: count('messages_decoded'),
    refused: count('messages_refused'),
    shed: count('messages_shed'),
  };
}

/** Writing less than this share of what was offered, the senders must have been held back by the receiver. */
const heldBackShare = 0.9;

/** `speed`: judge the time to full speed, which other work on the machine decides as well. */
export function complaints(report: OverloadReport, speed = true): string[] {
  const { udp, tcp, memory } = report;
  const found = [...report.unbalanced];
  if (udp.sent !== udp.received + udp.kernelDrops)
    found.push(
      `UDP: ${udp.sent} datagrams were sent, ${udp.received} received and ${udp.kernelDrops} dropped by the kernel`,
    );
  if (udp.kernelSays !== undefined && udp.kernelSays !== udp.kernelDrops)
    found.push(`UDP: the kernel says ${udp.kernelSays} drops, the metric ${udp.kernelDrops}`);
  if (udp.received !== udp.decoded + udp.refused + udp.shed)
    found.push(
      `UDP: ${udp.received} received is not decoded ${udp.decoded} + refused ${udp.refused} + shed ${udp.shed}`,
    );
  if (udp.shed + udp.kernelDrops === 0 && tcp.sent >= tcp.offered)
    found.push('there was no overload: nothing was shed and TCP took all that was offered');
  if (tcp.received !== tcp.sent)
    found.push(`TCP: the senders wrote ${tcp.sent} messages, ${tcp.received} were received`);
  if (tcp.sent < tcp.offered * heldBackShare && (tcp.stalledShare === 0 || tcp.unreadBytes === 0))
    found.push(
      `TCP: of ${tcp.offered} messages ${tcp.sent} were written, but no sender was held back (stalled ${tcp.stalledShare.toFixed(2)} of the time, ${tcp.unreadBytes} bytes unread)`,
    );
  if (report.appended !== report.stored) found.push(`appended ${report.appended}, stored ${report.stored}`);
  if (memory.peak > memory.ceiling + memoryRiseMegabytes)
    found.push(`memory rose from ${memory.ceiling.toFixed(0)} to ${memory.peak.toFixed(0)} MiB`);
  if (speed && report.recoverySeconds > 5) found.push(`full speed again after ${report.recoverySeconds.toFixed(1)} s`);
  return found;
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

export function summary({
  ceiling,
  offered,
  udp,
  tcp,
  memory,
  recoverySeconds,
  backlogSeconds,
}: OverloadReport): string {
  return (
    `ceiling ${Math.round(ceiling)} messages/s, offered ${offered} a second\n` +
    `UDP: sent ${udp.sent} = received ${udp.received} + kernel drops ${udp.kernelDrops}; received = decoded ${udp.decoded} + refused ${udp.refused} + shed ${udp.shed}\n` +
    `TCP: of ${megabytes(tcp.offeredBytes)} MB offered the senders could write ${megabytes(tcp.sentBytes)} (${((tcp.sent / tcp.offered) * 100).toFixed(0)} %), ${tcp.sent} messages, of which ${tcp.received} were received; stalled ${(tcp.stalledShare * 100).toFixed(0)} % of the time, ${(tcp.longestStallMs / 1000).toFixed(1)} s at the longest; ${tcp.paused} of 4 connections not read, ${megabytes(tcp.unreadBytes)} MB unread and ${megabytes(tcp.unsentBytes)} MB unsent in the kernel at the most\n` +
    `memory ${memory.ceiling.toFixed(0)} MiB at the ceiling, ${memory.peak.toFixed(0)} at the most; full speed ${recoverySeconds.toFixed(1)} s after the load fell back, backlog worked off ${backlogSeconds.toFixed(1)} s later`
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runInScope(async (scope) => {
    const report = await runOverload(scope, {
      ceilingMs: 5_000,
      overloadMs: durationOption('for', 60_000),
      times: numberOption('times', 3),
      print: (text) => {
        process.stdout.write(`${text}\n`);
      },
    });
    const problems = complaints(report);
    process.stdout.write(`${summary(report)}\n${JSON.stringify({ ...report, problems })}\n`);
    for (const problem of problems) process.stderr.write(`not passed: ${problem}\n`);
    return problems.length === 0;
  });
}
