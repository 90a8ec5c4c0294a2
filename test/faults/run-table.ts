/**
 * Runs rows one after the other: engines once for each set of them, a world for rows that need the same one, a result
 * for each row.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../program.js';
import { createWorld } from './world/create-world.js';
import { startOwnEngines, type EngineSet, type OwnEngines } from './world/own-engines.js';
import { createRandom } from './world/random.js';
import type { Reckoning } from './judging/reckoning.js';
import type { Row } from './row.js';
import { isExact, isInTime, runRow, type Load, type RowResult } from './run-row.js';
import type { World } from './world/world.js';

export interface Planned {
  readonly row: Row;
  readonly set: EngineSet;
  readonly load: Load;
}

interface TableOptions {
  readonly plan: readonly Planned[];
  /** Temporary; removed by the caller. Logs of failed rows are kept in `logs`. */
  readonly folder: string;
  readonly logs: string;
  readonly seed: number;
  readonly rounds: number;
  readonly awayMs: number;
  /** Messages a second at light load. */
  readonly lightRate: number;
  readonly signal: AbortSignal;
  readonly onPhase: (planned: Planned, phase: string) => void;
  readonly onResult: (result: RowResult) => void;
}

/** A world is left when this many messages stand in it: they all take part in each reckoning. */
const mostInWorld = 500_000;
/** Share of the measured ceiling that full load offers. Below 1, so that only the fault makes a backlog. */
const fullShare = 0.9;
const floodMs = 4_000;
const floodRate = 100_000;

interface Open {
  readonly key: string;
  readonly world: World;
  before: Reckoning | undefined;
}

export async function runTable(options: TableOptions): Promise<void> {
  const ceilings = new Map<string, number>();
  let own: { readonly set: EngineSet; readonly engines: OwnEngines } | undefined;
  let open: Open | undefined;
  let worlds = 0;
  let rate = options.lightRate;
  const leave = async (): Promise<void> => {
    await open?.world.close();
    open = undefined;
  };
  const enginesFor = async (set: EngineSet): Promise<OwnEngines | undefined> => {
    if (own?.set === set || set === 'embedded') return own?.engines;
    await own?.engines.close();
    own = undefined;
    own = { set, engines: await startOwnEngines(set, join(options.folder, `engines-${worlds}`)) };
    return own.engines;
  };
  const worldFor = async (planned: Planned): Promise<Open> => {
    const key = keyOf(planned);
    if (open?.key === key && (open.before?.accepted ?? 0) < mostInWorld) return open;
    await leave();
    if (planned.set === 'embedded' && own !== undefined) {
      await own.engines.close();
      own = undefined;
    }
    const name = `f${(worlds += 1)}`;
    const engines = await enginesFor(planned.set);
    const world = await createWorld({
      set: planned.set,
      own: engines,
      needs: planned.row.needs ?? {},
      folder: join(options.folder, name),
      name,
      rate: () => rate,
      rounds: options.rounds,
      awayMs: options.awayMs,
      random: createRandom(options.seed),
    });
    open = { key, world, before: undefined };
    return open;
  };
  const ceilingOf = async (planned: Planned): Promise<number> => {
    const key = `${planned.set} ${planned.row.needs?.outputs?.count ?? 0}`;
    const known = ceilings.get(key);
    if (known !== undefined) return known;
    const { world } = await worldFor(planned);
    options.onPhase(planned, 'measuring the ceiling');
    rate = floodRate;
    const ceiling = await measureCeiling(world, planned.row.needs?.outputs !== undefined);
    ceilings.set(key, ceiling);
    return ceiling;
  };

  try {
    for (const planned of options.plan) {
      if (options.signal.aborted) return;
      let failed: string | undefined;
      try {
        options.onPhase(planned, 'starting');
        const wanted =
          planned.load === 'light' ? options.lightRate : Math.round((await ceilingOf(planned)) * fullShare);
        const current = await worldFor(planned);
        rate = wanted;
        const { result, reckoning } = await runRow(current.world, planned.row, {
          load: planned.load,
          seed: options.seed,
          before: current.before,
          onPhase: (phase) => options.onPhase(planned, phase),
        });
        options.onResult(result);
        current.before = reckoning;
        if (!isExact(result) || !isInTime(result)) keepLogs(options.logs, planned, current.world);
        if (!isExact(result) || planned.row.needs?.alone === true) await leave();
      } catch (error) {
        failed = error instanceof Error ? error.message : String(error);
        await leave().catch(() => undefined);
      }
      if (failed !== undefined) options.onResult(brokenRow(planned, options, failed));
    }
  } finally {
    await leave().catch(() => undefined);
    await own?.engines.close();
  }
}

function keyOf({ row, set, load }: Planned): string {
  return JSON.stringify([set, load, row.needs ?? {}, row.needs?.alone === true ? row.name : '']);
}

/** Messages a second that are worked off, senders and everything else on the same cores. */
async function measureCeiling(world: World, withOutputs: boolean): Promise<number> {
  const from = performance.now();
  const traffic = world.startTraffic();
  await wait(floodMs);
  await traffic.stop();
  const total = await until(
    async () => {
      const progress = await world.progress().catch(() => undefined);
      if (progress?.lag !== 0) return undefined;
      return withOutputs && (await world.outputsLag()) > 0 ? undefined : progress.accepted;
    },
    180_000,
    () => 'the flood was not worked off',
  );
  return total / ((performance.now() - from) / 1000);
}

function keepLogs(folder: string, { row, set, load }: Planned, world: World): void {
  mkdirSync(folder, { recursive: true });
  for (const program of new Set([
    ...world.processors,
    world.receiver,
    ...(row.needs?.outputs === undefined ? [] : [world.outputProcess]),
  ])) {
    writeFileSync(
      join(folder, `${set}-${load}-${row.name}-${program.name}.log`),
      program.running ? program.program().output() : '',
    );
  }
}

function brokenRow({ row, set, load }: Planned, { seed }: TableOptions, error: string): RowResult {
  return {
    row: row.name,
    engines: set,
    load,
    seed,
    rate: 0,
    sent: 0,
    accepted: 0,
    stored: 0,
    deadLetters: 0,
    resent: 0,
    missing: 0,
    doubled: 0,
    outOfOrder: 0,
    unaccepted: 0,
    seconds: undefined,
    error,
    at: new Date().toISOString(),
  };
}
