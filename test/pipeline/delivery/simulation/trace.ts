/** Traces for people: one line an event, message ids as run.partition.sequence. */
import { simulate, type RunOptions } from './scheduler.js';

const idPattern = /([0-9a-f]{12})[0-9a-f]{8}-([0-9a-f]{4})-([0-9a-f]{10})/g;

export const shortIds = (text: string): string =>
  text.replace(idPattern, (_, run: string, partition: string, sequence: string) =>
    [run, partition, sequence].map((digits) => Number.parseInt(digits, 16)).join('.'),
  );

interface Trace {
  readonly problem: string | undefined;
  readonly lines: readonly string[];
}

export function traceOf(seed: number, options: RunOptions): Trace {
  const lines: string[] = [];
  const problem = simulate(seed, { ...options, note: (event) => lines.push(shortIds(event)) });
  return { problem: problem === undefined ? undefined : shortIds(problem), lines };
}

/** Fewest turns with faults after which the same seed still fails: the shortest trace. */
export function fewestTurns(seed: number, options: RunOptions, most: number): number {
  for (let turns = 1; turns < most; turns += 1) if (simulate(seed, { ...options, turns }) !== undefined) return turns;
  return most;
}
