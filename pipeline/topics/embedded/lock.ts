/** The lock of the topic folder: one process writes it. A lock whose process has ended is taken over. */
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { link, readFile, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { topicErrors } from '../errors.js';
import { hasCode } from './files.js';

interface Owner {
  readonly pid: number;
  /** Start of the process in ticks since the boot: tells processes apart that had the same id one after the other. Empty: unknown. */
  readonly started: string;
  /** Boot and process namespace, within which the id means something: a container has its own. Empty: unknown. */
  readonly world: string;
  readonly id: string;
}

export interface FolderLock {
  release(): Promise<void>;
}

/** The owner touches its lock this often; a contender that cannot ask for its process watches for this long. */
const touchEveryMs = 1000;
const watchMs = 5000;

function readOr<Value>(read: () => Value, otherwise: Value): Value {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

const currentWorld = () => readOr(() => `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`, '');

/** State and start time of a process (fields 3 and 22 of its stat file); empty where the system does not say. */
function readProcess(pid: number): { readonly state: string; readonly started: string } {
  return readOr(() => {
    const content = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = content.slice(content.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', started: fields[19] ?? '' };
  }, { state: '', started: '' });
}

function processLives(owner: Owner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (thrown) {
    if (hasCode(thrown, 'ESRCH')) return false;
  }
  const { state, started } = readProcess(owner.pid);
  if (state === 'Z' || state === 'X') return false;
  return started === '' || owner.started === '' || started === owner.started;
}

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
  const world = currentWorld();
  const mine = JSON.stringify({ pid: process.pid, started: readProcess(process.pid).started, world, id: randomUUID() } satisfies Owner);
  // Each round either ends or saw the lock of another process vanish or be replaced in between.
  for (let round = 0; round < 10; round += 1) {
    if (await createLock(file, mine)) return keep(file, mine);
    const theirs = await readFile(file, 'utf8').catch(() => undefined);
    if (theirs === undefined) continue;
    const owner = parseOwner(theirs);
    const lives = owner !== undefined && (owner.world === world ? processLives(owner) : await isTouched(file));
    if (lives) throw topicErrors.create('TOPIC_FOLDER_IN_USE', { place: folder, got: `process ${owner.pid}${owner.world === world ? '' : ' of another container or machine'}` });
    await removeIf(file, theirs);
  }
  throw topicErrors.create('TOPIC_FOLDER_IN_USE', { place: folder, got: 'several processes that start at the same time' });
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

function parseOwner(content: string): Owner | undefined {
  const owner = readOr(() => JSON.parse(content) as Partial<Owner> | null, null);
  return typeof owner?.pid === 'number' && typeof owner.started === 'string' && typeof owner.world === 'string' ? owner as Owner : undefined;
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
