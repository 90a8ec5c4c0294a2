/** Brings data to the version of this program, one step after the other. */
import type { Log } from '../log.js';
import { currentVersion, type FormatVersion } from '../format-versions.js';
import { judgeStamp, stampOf, type FormatStamp } from './stamp.js';

/** Where a stamp stands. */
export interface StampPlace {
  /** For people. */
  readonly place: string;
  read(): Promise<FormatStamp | undefined>;
  /** Replaces what this place read or wrote last, durably and as a whole. False when somebody else replaced it meanwhile. */
  write(stamp: FormatStamp): Promise<boolean>;
}

/**
 * By the version that the step starts from. A step may be cut short at any point and run again from its beginning: what it
 * has done already must stay right. Steps on data that is shared only add; what they replace goes a release later.
 */
export type MigrationSteps = Readonly<Record<number, () => Promise<void>>>;

/** Lost races in a row before giving up; each means that another process made progress. */
const maxRaces = 20;

/**
 * Resolves when the data is of this program's version, or of a newer one that it may use; rejects with FORMAT_NEWER or
 * FORMAT_TOO_OLD. `isNew`: nothing is there yet, so no step need run.
 */
export async function bringUpToDate(
  format: FormatVersion,
  stamps: StampPlace,
  steps: MigrationSteps,
  log: Log,
  isNew = false,
): Promise<void> {
  let races = 0;
  for (;;) {
    const stamp = await stamps.read();
    const verdict = judgeStamp(format, stamp, stamps.place);
    if (verdict.kind === 'refused') throw verdict.error;
    if (verdict.kind === 'fine') return;
    const written = isNew
      ? await stamps.write(stampOf(format))
      : await migrateOnce(format, stamps, stamp, verdict.from, steps, log);
    if (written) continue;
    races += 1;
    if (races > maxRaces)
      throw new Error(`${stamps.place}: other processes changed the version stamp ${maxRaces} times`);
  }
}

/** Before a step changes anything, its fence: a program that cannot read the outcome must not read half of it either. */
async function migrateOnce(
  format: FormatVersion,
  stamps: StampPlace,
  stamp: FormatStamp | undefined,
  from: number,
  steps: MigrationSteps,
  log: Log,
): Promise<boolean> {
  const next = format.versions.find(({ version }) => version > from);
  const bare = stampOf(format, next?.version ?? currentVersion(format));
  const outcome = { ...bare, minimum_reader: Math.max(bare.minimum_reader, stamp?.minimum_reader ?? 0) };
  const { place } = stamps;
  const run = steps[from];
  if (run !== undefined) {
    if (!(await stamps.write({ ...outcome, format: from }))) return false;
    log.info({ place, from, to: outcome.format, what: next?.what }, `migrating the ${format.name}`);
    await run();
  }
  const done = await stamps.write(outcome);
  if (done) log.info({ place, from, to: outcome.format }, `the ${format.name} is of version ${outcome.format}`);
  return done;
}
