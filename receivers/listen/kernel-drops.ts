/** Datagrams that the kernel dropped for a full receive buffer, from /proc/net/udp and udp6 (Linux). */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { isIP } from 'node:net';

/**
 * Undefined where the kernel does not tell. `port` is the bound one; sockets of other addresses on it are told apart by
 * address, and several of one address (SO_REUSEPORT) by inode.
 */
export function readKernelDrops(host: string, port: number, root = '/proc/net', inode?: string): number | undefined {
  const columns = socketsAt(host, port, root).find((socket) => inode === undefined || socket[inodeColumn] === inode);
  const drops = Number(columns?.at(-1) ?? NaN);
  return Number.isFinite(drops) ? drops : undefined;
}

/**
 * The inode of this process's own socket at an address that several processes share. Reads all open files: too slow to
 * ask often.
 */
export function ownSocketInode(host: string, port: number, root = '/proc'): string | undefined {
  const own = new Set<string>();
  try {
    for (const descriptor of readdirSync(`${root}/self/fd`)) {
      try {
        own.add(readlinkSync(`${root}/self/fd/${descriptor}`));
      } catch {
        // closed meanwhile
      }
    }
  } catch {
    return undefined;
  }
  return socketsAt(host, port, `${root}/net`)
    .map((columns) => columns[inodeColumn])
    .find((inode) => own.has(`socket:[${inode}]`));
}

/** Columns: sl local_address rem_address st queues timer retrnsmt uid timeout inode ref pointer drops. */
const inodeColumn = 9;
const localColumn = 1;

const linesWith = (table: string, text: string): string[][] =>
  table
    .split('\n')
    .filter((line) => line.includes(text))
    .map((line) => line.trim().split(/\s+/));

function socketsAt(host: string, port: number, root: string): string[][] {
  const found: string[][] = [];
  for (const [file, family] of [
    ['udp', 4],
    ['udp6', 6],
  ] as const) {
    let table: string;
    try {
      table = readFileSync(`${root}/${file}`, 'latin1');
    } catch {
      continue;
    }
    const wanted = family === 4 ? addressOf4(host) : addressOf6(host);
    if (wanted === undefined) continue;
    const local = `${wanted}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    // A connected sender on this machine has our address as its remote one.
    for (const columns of linesWith(table, local)) if (columns[localColumn] === local) found.push(columns);
  }
  return found;
}

/**
 * 127.0.0.1 is 0100007F: the kernel prints the address as a number of the machine's own byte order (little-endian
 * here).
 */
function addressOf4(host: string): string | undefined {
  const parts = host.split('.').map(Number);
  if (parts.length !== 4 || parts.some((part) => !(part >= 0 && part <= 255))) return undefined;
  return Buffer.from(parts.reverse()).toString('hex').toUpperCase();
}

/** Each group of 32 bits is printed as a number of the machine's own byte order: ::1 ends in 01000000. */
function addressOf6(host: string): string | undefined {
  if (isIP(host) !== 6 || host.includes('.')) return undefined;
  const [head = '', tail] = host.split('%', 1)[0]?.split('::') ?? [];
  const words = (part: string | undefined) => (part === undefined || part === '' ? [] : part.split(':'));
  const left = words(head);
  const right = words(tail);
  const all = [...left, ...new Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
    .map((word) => word.padStart(4, '0'))
    .join('');
  return Buffer.from(all, 'hex').swap32().toString('hex').toUpperCase();
}
