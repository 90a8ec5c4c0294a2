/**
 * `npm run faults`: the fault table from the command line. Ends with 1 when a row lost, doubled or reordered anything,
 * or took too long.
 */
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { milliseconds } from '../endurance/scope.js';
import { missingForEngines } from '../engines.js';
import type { EngineSet } from './world/own-engines.js';
import { lineOf, saveResults, tableOf, verdict } from './report.js';
import type { Load, RowResult } from './run-row.js';
import { rows } from './rows/registry.js';
import { runTable, type Planned } from './run-table.js';

interface Options {
  readonly engines?: string;
  readonly rows?: string;
  readonly load?: Load;
  readonly rounds: string;
  readonly away: string;
  readonly rate: string;
  readonly seed: string;
  readonly output: string;
  readonly resume?: boolean;
  readonly save?: boolean;
  readonly list?: boolean;
}

const allSets: readonly EngineSet[] = ['embedded', 'cluster', 'brokers', 'hosts'];

const command = new Command('npm run faults --')
  .description(
    'Runs the fault table: kills, pauses, cuts and fills real engines under the real program, and counts what is missing or doubled.',
  )
  .option('--engines <sets>', 'embedded, or cluster (Kafka and OpenSearch, with brokers and hosts); both when left out')
  .option('--rows <names>', 'only these rows, separated by commas')
  .option('--load <load>', 'light or full; both when left out')
  .option('--rounds <n>', 'how often a fault comes that comes again and again', '5')
  .option('--away <duration>', 'how long an engine is away', '8s')
  .option('--rate <n>', 'messages a second at light load', '1000')
  .option('--seed <n>', 'of the random moments', String(Date.now() % 1_000_000))
  .option('--output <folder>', 'results and the logs of failed rows', join(tmpdir(), 'sluice-faults'))
  .option('--resume', 'leave out rows that the results have already, but for those that broke off')
  .option('--save', 'write docs/faults.md from the results')
  .option('--list', 'say which rows there are')
  .parse();
const options = command.opts<Options>();

function chosenSets(): readonly EngineSet[] {
  if (options.engines === undefined) return allSets;
  return options.engines.split(',').flatMap((name): EngineSet[] => {
    if (name === 'cluster') return ['cluster', 'brokers', 'hosts'];
    if (!allSets.some((set) => set === name)) command.error(`--engines ${name}: embedded or cluster`);
    return [name as EngineSet];
  });
}

function plan(): Planned[] {
  const names = options.rows?.split(',');
  for (const name of names ?? [])
    if (!rows.some((row) => row.name === name))
      command.error(`--rows ${name}: there is no such row; --list names them`);
  if (options.load !== undefined && !['light', 'full'].includes(options.load))
    command.error(`--load ${options.load}: light or full`);
  const loads: readonly Load[] = options.load === undefined ? ['light', 'full'] : [options.load];
  const chosen = chosenSets().flatMap((set) =>
    loads.flatMap((load) =>
      rows
        .filter((row) => row.sets.includes(set) && names?.includes(row.name) !== false)
        .map((row) => ({ row, set, load })),
    ),
  );
  // Rows of one world side by side, in the order of the first of them.
  const groups = new Map<string, Planned[]>();
  for (const planned of chosen) {
    const key = JSON.stringify([planned.set, planned.load, planned.row.needs ?? {}]);
    groups.set(key, [...(groups.get(key) ?? []), planned]);
  }
  return [...groups.values()].flat();
}

const keyOf = ({ row, engines, load }: Pick<RowResult, 'row' | 'engines' | 'load'>): string =>
  `${engines} ${load} ${row}`;

function readResults(file: string): Map<string, RowResult> {
  const lines = existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];
  return new Map(lines.map((line) => JSON.parse(line) as RowResult).map((result) => [keyOf(result), result]));
}

/** A row that broke off counts nothing, so it is run again. */
function isDone(result: RowResult | undefined): boolean {
  return result !== undefined && verdict(result) !== 'failed';
}

function leftOut(planned: Planned): string | undefined {
  return (planned.set === 'embedded' ? undefined : missingForEngines()) ?? planned.row.missing?.();
}

async function run(): Promise<void> {
  mkdirSync(options.output, { recursive: true });
  const file = join(options.output, 'results.jsonl');
  if (options.resume !== true && options.save !== true) writeFileSync(file, '');
  const known = readResults(file);
  const wanted =
    options.save === true && options.resume !== true
      ? []
      : plan().filter(({ row, set, load }) => !isDone(known.get(keyOf({ row: row.name, engines: set, load }))));
  const possible = wanted.filter((planned) => {
    const reason = leftOut(planned);
    if (reason !== undefined)
      process.stdout.write(
        `left out  ${planned.set.padEnd(8)} ${planned.load.padEnd(5)} ${planned.row.name}: needs ${reason}\n`,
      );
    return reason === undefined;
  });
  const seed = Number(options.seed);
  process.stdout.write(`${possible.length} rows to run, ${known.size} in ${file}; seed ${seed}\n`);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-faults-'));
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      process.stdout.write('stopping after this row; once more ends at once\n');
      if (interrupted.signal.aborted) process.exit(130);
      interrupted.abort();
    });
  }
  let done = 0;
  try {
    await runTable({
      plan: possible,
      folder,
      logs: join(options.output, 'logs'),
      seed,
      rounds: Number(options.rounds),
      awayMs: milliseconds('--away', options.away),
      lightRate: Number(options.rate),
      signal: interrupted.signal,
      onPhase: (planned, phase) => {
        if (process.stdout.isTTY)
          process.stdout.write(
            `\r\u001b[K[${done + 1}/${possible.length}] ${planned.set} ${planned.load} ${planned.row.name}: ${phase}`,
          );
      },
      onResult: (result) => {
        done += 1;
        known.set(keyOf(result), result);
        appendFileSync(file, `${JSON.stringify(result)}\n`);
        process.stdout.write(
          `${process.stdout.isTTY ? '\r\u001b[K' : ''}[${done}/${possible.length}] ${lineOf(result)}\n`,
        );
      },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const results = [...known.values()];
  if (results.length > 0) process.stdout.write(`\n${tableOf(results)}\n`);
  if (options.save === true) process.stdout.write(`\nwritten: ${saveResults(results)}\n`);
  process.exitCode = results.some((result) => verdict(result) !== 'ok') ? 1 : 0;
}

if (options.list === true)
  for (const row of rows)
    process.stdout.write(
      `${row.name.padEnd(32)} ${row.sets.join(', ').padEnd(20)} ${row.title}${row.cases === undefined ? '' : ` (${row.cases.join(', ')})`}\n`,
    );
else await run();
