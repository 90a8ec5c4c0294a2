/** Times as figures, and what the program says of itself. */
import { readFileSync, writeFileSync } from 'node:fs';

/** Nearest rank. */
export function percentile(sorted: readonly number[], percent: number): number {
  return sorted[Math.max(0, Math.ceil((sorted.length * percent) / 100) - 1)] ?? NaN;
}

export function latencyText(times: readonly number[]): string {
  const sorted = [...times].sort((one, other) => one - other);
  const [p50, p95, p99] = [50, 95, 99].map((percent) => percentile(sorted, percent).toFixed(0).padStart(6));
  return `${String(sorted.length).padStart(5)} searches  p50 ${p50}  p95 ${p95}  p99 ${p99}  max ${percentile(sorted, 100).toFixed(0).padStart(6)} ms`;
}

export interface Scrape {
  /** Sum over all labels, of those that match. */
  sum(name: string, label?: string): number;
}

export async function scrape(adminPort: number): Promise<Scrape> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return {
    sum: (name, label = '') =>
      lines
        .filter((line) => (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && line.includes(label))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0),
  };
}

/** User and system time of all threads, in seconds; ticks of 10 ms. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const mebibytes = (pid: number, name: string): number =>
  Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
export const residentMebibytes = (pid: number): number => mebibytes(pid, 'VmRSS');
/** Since `forgetPeak`. */
export const peakMebibytes = (pid: number): number => mebibytes(pid, 'VmHWM');

export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
