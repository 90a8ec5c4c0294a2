/** The version of the data folder: judged before anything in it is opened, and brought up to date under its lock. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Config } from '../../schemas/config/config.js';
import { errorCode, errorText, isSluiceError } from '../../core/errors.js';
import { formatVersions } from '../../core/formats/versions.js';
import { formatErrors } from '../../core/formats/errors.js';
import { bringUpToDate, type StampPlace } from '../../core/formats/migrate.js';
import { judgeStamp, readStamp, type FormatStamp } from '../../core/formats/stamp.js';
import type { Log } from '../../core/log.js';
import { lockFolder, rewriteGroups } from '../../topics/embedded.js';
import { programEvents } from '../events.js';

const fileName = 'version.json';
/** What a folder may hold that no format depends on. */
const incidental = /^(?:control.*\.sock|lock.*|version\.json.*)$/;

/**
 * Secrets of the API's objects and all messages lie in it in the clear: it is made for its owner alone. Folders above
 * it are made as usual.
 */
export function makeDataFolder(folder: string): void {
  mkdirSync(dirname(resolve(folder)), { recursive: true });
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (thrown) {
    if (errorCode(thrown) !== 'EEXIST' || !statSync(folder).isDirectory()) throw thrown;
  }
}

const ofOthers = 0o007;

/** One that is there already was made by an operator, who may have reasons. */
async function warnOfReaders(folder: string, log: Log): Promise<void> {
  const { mode } = await stat(folder);
  if ((mode & ofOthers) === 0) return;
  programEvents.dataFolderExposed(log, { folder, mode: (mode & 0o777).toString(8) });
}

/**
 * Rejects with FORMAT_NEWER or FORMAT_TOO_OLD before anything was changed. Engines outside of the folder keep nothing
 * in it that could be migrated, so several processes may share it then without a lock.
 */
/** `ownTopics`: topics are files of this folder, which belong to one process. */
export async function openDataFolder(config: Config, ownTopics: boolean, log: Log): Promise<void> {
  const folder = config.data_folder;
  await warnOfReaders(folder, log);
  const stamps = stampFile(folder);
  const verdict = judgeStamp(formatVersions.dataFolder, await stamps.read(), stamps.place);
  if (verdict.kind === 'refused') throw verdict.error;
  if (verdict.kind === 'fine') return;
  const isNew = await isEmpty(folder);
  const embedded = ownTopics || config.store.kind === 'embedded';
  const lock = embedded ? await lockFolder(folder) : undefined;
  try {
    await bringUpToDate({
      format: formatVersions.dataFolder,
      stamps,
      steps: { 0: async () => programEvents.offsetsCompacted(log, { groups: await rewriteGroups(folder) }) },
      log,
      isNew,
    });
  } finally {
    await lock?.release();
  }
}

async function isEmpty(folder: string): Promise<boolean> {
  return (await readdir(folder)).every((name) => incidental.test(name));
}

function stampFile(folder: string): StampPlace {
  const place = join(folder, fileName);
  return { place, read: () => readStampFile(place), write: (stamp) => writeStampFile(folder, place, stamp) };
}

async function readStampFile(place: string): Promise<FormatStamp | undefined> {
  let text: string;
  try {
    text = await readFile(place, 'utf8');
  } catch (thrown) {
    if (errorCode(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
  try {
    return readStamp(JSON.parse(text), place);
  } catch (thrown) {
    if (isSluiceError(thrown)) throw thrown;
    throw formatErrors.create('FORMAT_UNREADABLE', { place, got: errorText(thrown), cause: thrown });
  }
}

/**
 * Processes that share the folder write the same stamp, each through a draft of its own; after a crash the old or the
 * new one is there.
 */
async function writeStampFile(folder: string, place: string, stamp: FormatStamp): Promise<boolean> {
  const draft = `${place}.${randomUUID()}`;
  try {
    const handle = await open(draft, 'w');
    try {
      await handle.writeFile(`${JSON.stringify(stamp, undefined, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, place);
  } catch (thrown) {
    await rm(draft, { force: true });
    throw thrown;
  }
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  return true;
}
