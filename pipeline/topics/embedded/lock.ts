/** The lock of the topic folder: one process writes it. A lock whose process has ended is taken over. */
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { link, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { topicErrors } from '../errors.js';
import { hasCode } from './files.js';

interface Owner {
  readonly pid: number;
  /** Tells processes apart that had the same id one after the other; empty where the system does not say. */
  readonly started: string;
  readonly id: string;
}

export interface FolderLock {
  release(): Promise<void>;
}

/** Start of a process: ticks since the boot (field 22 of its stat file), with the boot's and the process namespace's id. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return `${fields[19]} ${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
}

function isAlive(owner: Owner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (thrown) {
    if (hasCode(thrown, 'ESRCH')) return false;
  }
  const started = startOf(owner.pid);
  return started === '' || owner.started === '' || started === owner.started;
}

export async function lockFolder(folder: string): Promise<FolderLock> {
  const file = join(folder, 'lock');
  const mine = JSON.stringify({ pid: process.pid, started: startOf(process.pid), id: randomUUID() } satisfies Owner);
  // Each round either ends or saw the lock of another process vanish or be replaced in between.
  for (let round = 0; round < 10; round += 1) {
    if (await createLock(file, mine)) return { release: () => removeIf(file, mine) };
    const theirs = await readFile(file, 'utf8').catch(() => undefined);
    if (theirs === undefined) continue;
    const owner = parseOwner(theirs);
    if (owner !== undefined && isAlive(owner)) throw topicErrors.create('TOPIC_FOLDER_IN_USE', { place: folder, got: `process ${owner.pid}` });
    await removeIf(file, theirs);
  }
  throw topicErrors.create('TOPIC_FOLDER_IN_USE', { place: folder, got: 'several processes that start at the same time' });
}

function parseOwner(content: string): Owner | undefined {
  try {
    return JSON.parse(content) as Owner;
  } catch {
    return undefined;
  }
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

/** Removes the lock when it has this content; a lock that another process put in its place meanwhile is put back. */
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
