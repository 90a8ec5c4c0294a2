/** The lock of the topic folder: one process writes it. A lock whose process has ended is taken over. */
import { randomUUID } from 'node:crypto';
import { link, readFile, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { topicErrors } from '../errors.js';
import { parseOwner, processLives, thisProcess } from '../owner.js';
import { hasCode } from './files.js';

export interface FolderLock {
  release(): Promise<void>;
}

/** The owner touches its lock this often; a contender that cannot ask for its process watches for this long. */
const touchEveryMs = 1000;
const watchMs = 5000;

/** Whether the lock file is touched while we watch. */
async function isTouched(file: string): Promise<boolean> {
  const modified = async () => (await stat(file).catch(() => undefined))?.mtimeMs;
  const before = await modified();
  for (let waited = 0; waited < watchMs; waited += touchEveryMs / 4) {
    await pause(touchEveryMs / 4);
    if ((await modified()) !== before) return true;
  }
  return false;
}

export async function lockFolder(folder: string): Promise<FolderLock> {
  const file = join(folder, 'lock');
  const me = thisProcess();
  const mine = JSON.stringify(me);
  // Each round either ends or saw the lock of another process vanish or be replaced in between.
  for (let round = 0; round < 10; round += 1) {
    if (await createLock(file, mine)) return keep(file, mine);
    const theirs = await readFile(file, 'utf8').catch(() => undefined);
    if (theirs === undefined) continue;
    const owner = parseOwner(theirs);
    const lives = owner !== undefined && (owner.world === me.world ? processLives(owner) : await isTouched(file));
    if (lives)
      throw topicErrors.create('TOPIC_FOLDER_IN_USE', {
        place: folder,
        got: `process ${owner.pid}${owner.world === me.world ? '' : ' of another container or machine'}`,
      });
    await removeIf(file, theirs);
  }
  throw topicErrors.create('TOPIC_FOLDER_IN_USE', {
    place: folder,
    got: 'several processes that start at the same time',
  });
}

function keep(file: string, content: string): FolderLock {
  const timer = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => {});
  }, touchEveryMs).unref();
  return {
    release: async () => {
      clearInterval(timer);
      await removeIf(file, content);
    },
  };
}

/** Creates the lock with its content at once; false when there is one. */
async function createLock(file: string, content: string): Promise<boolean> {
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, content);
  try {
    await link(draft, file);
    return true;
  } catch (thrown) {
    if (hasCode(thrown, 'EEXIST')) return false;
    throw thrown;
  } finally {
    await unlink(draft);
  }
}

/** Removes the lock when it has this content; one that another process put in its place meanwhile is put back. */
async function removeIf(file: string, content: string): Promise<void> {
  const aside = `${file}.${randomUUID()}`;
  try {
    await rename(file, aside);
    if ((await readFile(aside, 'utf8')) !== content) await link(aside, file);
    await unlink(aside);
  } catch (thrown) {
    if (!hasCode(thrown, 'ENOENT')) throw thrown;
  }
}
