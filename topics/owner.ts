/** Who wrote a file that outlives its process, and whether that process is still there. */
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { errorCode } from '../core/errors.js';

export interface Owner {
  readonly pid: number;
  /**
   * Start of the process in ticks since the boot: tells processes apart that had the same id one after the other.
   * Empty: unknown.
   */
  readonly started: string;
  /** Boot and process namespace, within which the id means something: a container has its own. Empty: unknown. */
  readonly world: string;
  readonly id: string;
}

export const thisProcess = (): Owner => ({
  pid: process.pid,
  started: readProcess(process.pid).started,
  world: currentWorld(),
  id: randomUUID(),
});

/** Only for an owner of the same world. */
export function processLives(owner: Owner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (thrown) {
    if (errorCode(thrown) === 'ESRCH') return false;
  }
  const { state, started } = readProcess(owner.pid);
  if (state === 'Z' || state === 'X') return false;
  return started === '' || owner.started === '' || started === owner.started;
}

/** False also when nobody can tell. */
export const hasCertainlyEnded = (owner: Owner): boolean =>
  owner.world !== '' && owner.world === currentWorld() && !processLives(owner);

export function parseOwner(content: string): Owner | undefined {
  const owner = readOr(() => JSON.parse(content) as Partial<Owner> | null, null);
  return typeof owner?.pid === 'number' && typeof owner.started === 'string' && typeof owner.world === 'string'
    ? (owner as Owner)
    : undefined;
}

const currentWorld = (): string =>
  readOr(
    () => `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`,
    '',
  );

/** State and start time of a process (fields 3 and 22 of its stat file); empty where the system does not say. */
function readProcess(pid: number): { readonly state: string; readonly started: string } {
  return readOr(
    () => {
      const content = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = content.slice(content.lastIndexOf(')') + 2).split(' ');
      return { state: fields[0] ?? '', started: fields[19] ?? '' };
    },
    { state: '', started: '' },
  );
}

function readOr<Value>(read: () => Value, otherwise: Value): Value {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
