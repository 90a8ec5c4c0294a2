/**
 * Figures of a running program: its metrics, its memory and files as the kernel sees them, and how they change over
 * time.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';

export type Samples = (name: string, labels?: Readonly<Record<string, string>>) => number;

/** One look at /metrics; a name without a sample is 0. */
export async function scrape(adminPort: number): Promise<Samples> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  const samples = [...text.matchAll(/^(\w+)(?:\{([^}]*)\})? (\S+)$/gm)].map(([, name, labels, value]) => ({
    name,
    labels: labels ?? '',
    value: Number(value),
  }));
  return (name, labels = {}) =>
    samples
      .filter(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([key, value]) => sample.labels.includes(`${key}="${value}"`)),
      )
      .reduce((sum, sample) => sum + sample.value, 0);
}

export function residentMegabytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}

export function peakMegabytes(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}

export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** User and system time of all threads; ticks of 10 ms. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/**
 * Bytes of established IPv4 connections to this port that the kernel holds: not yet read by the receiver, and not yet
 * taken from the senders. Fields of /proc/net/tcp.
 */
export function kernelQueues(port: number): { readonly unread: number; readonly unsent: number } {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  let unread = 0;
  let unsent = 0;
  for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n')) {
    const [, local = '', remote = '', , queues = ''] = line.trim().split(/\s+/);
    const [transmit = '0', receive = '0'] = queues.split(':');
    if (local.endsWith(`:${hex}`)) unread += Number.parseInt(receive, 16);
    if (remote.endsWith(`:${hex}`)) unsent += Number.parseInt(transmit, 16);
  }
  return { unread, unsent };
}

export interface Point {
  /** Milliseconds. */
  readonly at: number;
  readonly value: number;
}

/** Least squares: change of the value in one hour. */
export function slopePerHour(points: readonly Point[]): number {
  if (points.length < 2) return 0;
  const mean = (of: (point: Point) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [at, value] = [mean((point) => point.at), mean((point) => point.value)];
  const spread = points.reduce((sum, point) => sum + (point.at - at) ** 2, 0);
  return spread === 0
    ? 0
    : (points.reduce((sum, point) => sum + (point.at - at) * (point.value - value), 0) / spread) * 3_600_000;
}

/** The value below which `share` of them lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

export function machine(): string {
  return `${cpus().length} x ${cpus()[0]?.model ?? '?'}, Node.js ${process.version}, load ${loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')}`;
}

const receivers = ['gelf-tcp', 'gelf-udp', 'gelf-http'] as const;

/**
 * Per receiver: received = decoded + refused + shed, and decoded = appended + waiting. The sentences say what is not
 * so.
 */
export function unbalanced(samples: Samples): string[] {
  return receivers.flatMap((receiver) => {
    const count = (what: string): number => samples(`sluice_messages_${what}_total`, { receiver });
    const waiting = samples('sluice_messages_waiting', { receiver });
    const problems: string[] = [];
    if (count('received') !== count('decoded') + count('refused') + count('shed'))
      problems.push(
        `${receiver}: received ${count('received')} is not decoded ${count('decoded')} + refused ${count('refused')} + shed ${count('shed')}`,
      );
    if (count('decoded') !== count('appended') + waiting)
      problems.push(
        `${receiver}: decoded ${count('decoded')} is not appended ${count('appended')} + waiting ${waiting}`,
      );
    return problems;
  });
}
