/**
 * How many bytes of a TCP connection the other side's system has not acknowledged, and whether that system is there
 * while its program does not read, as Linux tells in /proc/net/tcp: without it a vanished destination looks sound until
 * the kernel gives up, after a quarter of an hour, and one that hangs looks like one that has vanished. Elsewhere
 * nobody can tell.
 */
import { readFile } from 'node:fs/promises';

interface KernelQueue {
  /** Called with each look; `taken` ran right before it. */
  readonly before: () => void;
  readonly after: (look: KernelLook) => void;
}

export interface KernelLook {
  readonly unacknowledged: number;
  /**
   * When nothing is acknowledged for long: the other side's system is there, and its buffer is full of what its program
   * has not read.
   */
  readonly hangs: boolean;
}

const everyMs = 250;
const tables = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
const watched = new Map<string, KernelQueue>();
let timer: NodeJS.Timeout | undefined;
let looking = false;

/**
 * Looks at this connection a few times a second until the returned function is called. One look serves all connections.
 */
export function watchKernelQueue(localPort: number, remotePort: number, queue: KernelQueue): () => void {
  const key = `${hex(localPort)}:${hex(remotePort)}`;
  watched.set(key, queue);
  timer ??= setInterval(() => void look(), everyMs).unref();
  return () => {
    if (watched.get(key) === queue) watched.delete(key);
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');

async function look(): Promise<void> {
  if (looking) return;
  looking = true;
  try {
    for (const queue of watched.values()) queue.before();
    const looked = [...watched];
    const texts = await Promise.all(tables.map((table) => readFile(table, 'latin1').catch(() => '')));
    const looks = looksOf(texts.join('\n'));
    for (const [key, queue] of looked) {
      const found = looks.get(key);
      if (found !== undefined) queue.after(found);
    }
  } finally {
    looking = false;
  }
}

/** `timer_active` of the kernel's table: a closed window is probed. */
const probing = '04';
/** Probes without an answer; the count begins anew with each answer. */
const mostUnanswered = 2;
/**
 * Acknowledgements are waited for, and none is late so far; or the window was closed over what was on its way, which is
 * sent again without being counted.
 */
const sending = '01';
const row =
  /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) 01 ([0-9A-F]{8}):[0-9A-F]{8} ([0-9A-F]{2}):[0-9A-F]{8} ([0-9A-F]{8}) +\d+ +(\d+)/gm;

/** `local port:remote port` → established connections. */
export function looksOf(table: string): Map<string, KernelLook> {
  const looks = new Map<string, KernelLook>();
  for (const [, local = '', remote = '', size = '', timer, sentAgain = '', unanswered] of table.matchAll(row)) {
    const key = `${local}:${remote}`;
    const unacknowledged = Number.parseInt(size, 16);
    if (unacknowledged >= (looks.get(key)?.unacknowledged ?? 0))
      looks.set(key, {
        unacknowledged,
        hangs:
          timer === probing
            ? Number(unanswered) <= mostUnanswered
            : timer === sending && Number.parseInt(sentAgain, 16) === 0,
      });
  }
  return looks;
}
