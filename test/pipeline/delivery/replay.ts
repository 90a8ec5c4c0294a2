/**
 * Replays seeds: `npm run simulate -- --seed 1234 [--without rule-7] [--turns 40]` prints the trace of one world,
 * `npm run simulate -- --seeds 100000 [--from 1] [--without rule-7]` runs many and stops at the first that fails.
 */
import { parseArgs } from 'node:util';
import { defaultTurns, simulate } from './simulation/scheduler.js';
import { isSwitch, switches, type Switch } from './simulation/switches.js';
import { fewestTurns, traceOf } from './simulation/trace.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    without: { type: 'string', multiple: true, default: [] },
    turns: { type: 'string' },
  },
});
const without = values.without.map((name): Switch => {
  if (isSwitch(name)) return name;
  throw new Error(`--without ${name}: one of ${Object.keys(switches).join(', ')}`);
});
const options = { without, ...(values.turns === undefined ? {} : { turns: Number(values.turns) }) };

function replay(seed: number): string | undefined {
  const turns =
    values.turns === undefined && simulate(seed, options) !== undefined
      ? fewestTurns(seed, options, defaultTurns)
      : options.turns;
  const { problem, lines } = traceOf(seed, turns === undefined ? options : { ...options, turns });
  process.stdout.write(
    `${lines.join('\n')}\nseed ${seed}${turns === undefined ? '' : `, ${turns} turns`}: ${problem ?? 'the promise holds'}\n`,
  );
  return problem;
}

function search(first: number, count: number): number | undefined {
  const started = Date.now();
  for (let seed = first; seed < first + count; seed += 1) {
    if (simulate(seed, options) !== undefined) return seed;
    if ((seed - first + 1) % 10_000 === 0)
      process.stderr.write(`${seed - first + 1} seeds, ${Math.round((Date.now() - started) / 1000)} s\n`);
  }
  process.stdout.write(
    `seeds ${first} to ${first + count - 1}: the promise holds in all, ${Math.round((Date.now() - started) / 1000)} s\n`,
  );
  return undefined;
}

const seed =
  values.seed === undefined ? search(Number(values.from), Number(values.seeds ?? 10_000)) : Number(values.seed);
if (seed !== undefined && replay(seed) !== undefined) process.exitCode = 1;
