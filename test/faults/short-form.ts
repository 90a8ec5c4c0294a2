/** A handful of rows of the fault table as a test, at light load. */
import { join } from 'node:path';
import type { Test } from 'tap';
import { testFolder } from '../program.js';
import type { EngineSet } from './world/own-engines.js';
import { lineOf } from './report.js';
import { rows } from './rows/registry.js';
import type { RowResult } from './run-row.js';
import { runTable } from './run-table.js';

interface ShortForm {
  readonly set: EngineSet;
  readonly names: readonly string[];
  readonly rounds: number;
  readonly awayMs: number;
  readonly seed: number;
}

/**
 * Other tests run beside this one, so that only what must hold at any speed is asserted: nothing missing, doubled or
 * out of order, and full speed again.
 */
export async function testRows(t: Test, { set, names, rounds, awayMs, seed }: ShortForm): Promise<void> {
  const folder = testFolder(t);
  const results: RowResult[] = [];
  const plan = names
    .flatMap((name) => rows.filter((row) => row.name === name && row.sets.includes(set)))
    .map((row) => ({ row, set, load: 'light' as const }));
  t.equal(plan.length, names.length, 'the rows are in the table');
  const possible = plan.filter(({ row }) => {
    const reason = row.missing?.();
    if (reason !== undefined) t.comment(`left out: ${row.name} needs ${reason}`);
    return reason === undefined;
  });
  await runTable({
    plan: possible,
    folder: join(folder, 'runs'),
    logs: join(folder, 'logs'),
    seed,
    rounds,
    awayMs,
    lightRate: 1_000,
    signal: new AbortController().signal,
    onPhase: () => undefined,
    onResult: (result) => results.push(result),
  });
  for (const result of results) {
    t.comment(lineOf(result));
    const { error, missing, doubled, outOfOrder, unaccepted, stored, accepted } = result;
    t.same(
      { error, missing, doubled, outOfOrder, unaccepted, stored },
      { error: undefined, missing: 0, doubled: 0, outOfOrder: 0, unaccepted: 0, stored: accepted },
      `${result.row}: nothing is missing, doubled or out of order (seed ${seed})`,
    );
    if (result.outputs !== undefined)
      t.match(
        result.outputs,
        { missing: 0, outOfOrder: 0 },
        `${result.row}: nothing is missing or out of order at any destination (seed ${seed})`,
      );
    t.ok(accepted > 1_000, `${result.row}: there was load`);
    t.ok(result.seconds !== undefined, `${result.row}: full speed again`);
  }
  t.equal(results.length, possible.length, 'every row was run');
}
