/** Brings data to the version of this program, one step after the other. */
import type { Log } from '../log.js';
import { currentVersion, type FormatVersion } from './versions.js';
import { formatEvents } from './events.js';
import { judgeStamp, stampOf, type FormatStamp } from './stamp.js';

/** Where a stamp stands. */
export interface StampPlace {
  /** For people. */
  readonly place: string;
  read(): Promise<FormatStamp | undefined>;
  /**
   * Replaces what this place read or wrote last, durably and as a whole. False when somebody else replaced it
   * meanwhile.
   */
  write(stamp: FormatStamp): Promise<boolean>;
}

/**
 * By the version that the step starts from. A step may be cut short at any point and run again from its beginning: what
 * it has done already must stay right. Steps on data that is shared only add; what they replace goes a release later.
 */
export type MigrationSteps = Readonly<Record<number, () => Promise<void>>>;

/** Lost races in a row before giving up; each means that another process made progress. */
const maxRaces = 20;

interface Migration {
  readonly format: FormatVersion;
  readonly stamps: StampPlace;
  readonly steps: MigrationSteps;
  readonly log: Log;
  /** Nothing is there yet, so no step need run. */
  readonly isNew?: boolean;
}

/**
 * Resolves when the data is of this program's version, or of a newer one that it may use; rejects with FORMAT_NEWER or
 * FORMAT_TOO_OLD.
 */
export async function bringUpToDate(migration: Migration): Promise<void> {
  const { format, stamps, isNew = false } = migration;
  let races = 0;
  for (;;) {
    const stamp = await stamps.read();
    const verdict = judgeStamp(format, stamp, stamps.place);
    if (verdict.kind === 'refused') throw verdict.error;
    if (verdict.kind === 'fine') return;
    const written = isNew ? await stamps.write(stampOf(format)) : await migrateOnce(migration, stamp, verdict.from);
    if (written) continue;
    races += 1;
    if (races > maxRaces)
      throw new Error(`${stamps.place}: other processes changed the version stamp ${maxRaces} times`);
  }
}

/**
 * Before a step changes anything, its fence: a program that cannot read the outcome must not read half of it either.
 */
async function migrateOnce(
  { format, stamps, steps, log }: Migration,
  stamp: FormatStamp | undefined,
  from: number,
): Promise<boolean> {
  const next = format.versions.find(({ version }) => version > from);
  const bare = stampOf(format, next?.version ?? currentVersion(format));
  const outcome = { ...bare, minimum_reader: Math.max(bare.minimum_reader, stamp?.minimum_reader ?? 0) };
  const facts = { place: stamps.place, from, to: outcome.format };
  const run = steps[from];
  if (run !== undefined) {
    if (!(await stamps.write({ ...outcome, format: from }))) return false;
    formatEvents.migrationStarted(log, { ...facts, what: next?.what }, format.name);
    await run();
  }
  const done = await stamps.write(outcome);
  if (done) formatEvents.versionReached(log, facts, format.name, String(outcome.format));
  return done;
}
