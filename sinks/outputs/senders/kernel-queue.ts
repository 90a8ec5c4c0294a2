/**
 * How many bytes of a TCP connection the other side's system has not acknowledged, as Linux tells in /proc/net/tcp: without it a
 * vanished destination looks sound until the kernel gives up, after a quarter of an hour. Elsewhere nobody can tell.
 */
import { readFile } from 'node:fs/promises';

export interface KernelQueue {
  /** Called with each look; `taken` ran right before it. */
  readonly before: () => void;
  readonly after: (unacknowledged: number) => void;
}

const everyMs = 250;
const tables = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
const watched = new Map<string, KernelQueue>();
let timer: NodeJS.Timeout | undefined;
let looking = false;

/** Looks at this connection a few times a second until the returned function is called. One look serves all connections. */
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
    const sizes = sizesOf(texts.join('\n'));
    for (const [key, queue] of looked) {
      const size = sizes.get(key);
      if (size !== undefined) queue.after(size);
    }
  } finally {
    looking = false;
  }
}

/** `local port:remote port` → bytes in the send queue, of established connections. */
export function sizesOf(table: string): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const [, local = '', remote = '', size = ''] of table.matchAll(/^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) 01 ([0-9A-F]{8}):/gm)) {
    const key = `${local}:${remote}`;
    sizes.set(key, Math.max(sizes.get(key) ?? 0, Number.parseInt(size, 16)));
  }
  return sizes;
}
