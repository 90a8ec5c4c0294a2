/**
 * The files of the indices: `<name>.duckdb`, its write-ahead log, and `<name>.duckdb.closed` while the index is closed.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { TimeSpan } from './time-span.js';

const ending = '.duckdb';

/** What stays known of an index whose file is not attached. */
export interface IndexFacts {
  readonly documents: number;
  readonly createdAt: number;
  /** Undefined: not known. Not kept of a closed index. */
  readonly times?: TimeSpan;
}

export class IndexFolder {
  readonly path: string;

  constructor(folder: string) {
    this.path = join(folder, 'indices');
  }

  /** Creates the folder, removes what a crash left of deleted indices, and names the rest. */
  open(): string[] {
    mkdirSync(this.path, { recursive: true });
    const files = readdirSync(this.path);
    const names = files.filter((file) => file.endsWith(ending)).map((file) => file.slice(0, -ending.length));
    const known = new Set(names);
    for (const file of files) {
      const name = file.slice(0, file.lastIndexOf(ending));
      if (file.includes(`${ending}.`) && !known.has(name)) rmSync(join(this.path, file), { force: true });
    }
    return names;
  }

  file(name: string): string {
    return join(this.path, name + ending);
  }

  /** Database file and write-ahead logs. */
  bytes(name: string): number {
    return sizeOf(this.file(name)) + sizeOf(`${this.file(name)}.wal`) + sizeOf(`${this.file(name)}.wal.checkpoint`);
  }

  bornAt(name: string): number {
    return Math.round(statSync(this.file(name), { throwIfNoEntry: false })?.birthtimeMs ?? 0);
  }

  closedFacts(name: string): IndexFacts | undefined {
    const file = `${this.file(name)}.closed`;
    if (!existsSync(file)) return undefined;
    try {
      return JSON.parse(readFileSync(file, 'utf8')) as IndexFacts;
    } catch {
      return { documents: 0, createdAt: this.bornAt(name) };
    }
  }

  markClosed(name: string, facts: IndexFacts): void {
    const file = `${this.file(name)}.closed`;
    writeFileSync(`${file}.new`, JSON.stringify(facts), { flush: true });
    renameSync(`${file}.new`, file);
    this.sync();
  }

  markOpen(name: string): void {
    rmSync(`${this.file(name)}.closed`, { force: true });
    this.sync();
  }

  /** The database file goes first: without it the others are swept at the next start. */
  remove(name: string): void {
    for (const suffix of ['', '.wal', '.wal.checkpoint', '.closed', '.closed.new'])
      rmSync(this.file(name) + suffix, { force: true });
    this.sync();
  }

  /** Makes created, renamed and removed names durable. */
  sync(): void {
    const handle = openSync(this.path, 'r');
    try {
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
