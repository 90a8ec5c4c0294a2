/** Datagrams that the kernel dropped for a full receive buffer, from /proc/net/udp and udp6 (Linux). */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';

/** Undefined where the kernel does not tell. `port` is the bound one; sockets of other addresses on it are told apart by address. */
export function readKernelDrops(host: string, port: number, root = '/proc/net'): number | undefined {
  let found: number | undefined;
  for (const [file, family] of [['udp', 4], ['udp6', 6]] as const) {
    let table: string;
    try {
      table = readFileSync(`${root}/${file}`, 'latin1');
    } catch {
      continue;
    }
    const wanted = family === 4 ? addressOf4(host) : addressOf6(host);
    if (wanted !== undefined) found = dropsIn(table, `${wanted}:${port.toString(16).toUpperCase().padStart(4, '0')}`) ?? found;
  }
  return found;
}

/** Columns: sl local_address rem_address st queues timer retrnsmt uid timeout inode ref pointer drops. */
function dropsIn(table: string, local: string): number | undefined {
  const line = table.split('\n').find((text) => text.includes(` ${local} `));
  if (line === undefined) return undefined;
  const drops = Number(line.trim().split(/\s+/).at(-1));
  return Number.isFinite(drops) ? drops : undefined;
}

/** 127.0.0.1 is 0100007F: the kernel prints the address as a number of the machine's own byte order (little-endian here). */
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
  const all = [...left, ...new Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right].map((word) => word.padStart(4, '0')).join('');
  return Buffer.from(all, 'hex').swap32().toString('hex').toUpperCase();
}
