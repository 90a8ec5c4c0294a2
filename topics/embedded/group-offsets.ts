/**
 * Committed offsets of the consumer groups. One journal a group, `<folder>/groups/<group>.offsets`: a line a commit,
 * `<crc32 in 8 hexadecimal digits> <JSON>`; of a partition the last sound line counts, a torn last line is passed over.
 * The first line is `{"format": version}`; journals of version 0 have none.
 */
import { mkdir, open, readdir, readFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { errorText } from '../../core/errors.js';
import { currentVersion, formatVersions } from '../../core/formats/versions.js';
import { assertVersion } from '../../core/formats/stamp.js';
import { createRateLimit, type Log } from '../../core/log.js';
import { groupsFolder, hasCode, writeDurably } from './files.js';
import { embeddedEvents } from './events.js';

/** A journal is written anew past this size. */
const maxJournalBytes = 256 * 1024;
/** Commits are written together at most this often; what a crash loses of them is only delivered again. */
const flushEveryMs = 100;
const retryEveryMs = 1000;
const ending = '.offsets';

interface GroupOffset {
  readonly topic: string;
  readonly generation: number;
  readonly partition: number;
  readonly offset: number;
  /** Null: the group reads the partition but has not committed yet; retention minds it already. */
  readonly metadata: string | null;
}

const keyOf = (topic: string, partition: number) => `${topic}/${partition}`;

function encodeLine(entry: GroupOffset | { readonly format: number }): string {
  const json = JSON.stringify(entry);
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
}

function encodeJournal(entries: Iterable<GroupOffset>): string {
  return [{ format: currentVersion(formatVersions.groupOffsets) }, ...entries].map(encodeLine).join('');
}

function decodeJournal(content: string, place: string): Map<string, GroupOffset> {
  const entries = new Map<string, GroupOffset>();
  for (const line of content.split('\n')) {
    const json = line.slice(9);
    if (json === '' || Number.parseInt(line.slice(0, 8), 16) !== crc32(json)) continue;
    const entry = JSON.parse(json) as GroupOffset | { readonly format: number };
    if ('format' in entry) {
      assertVersion(formatVersions.groupOffsets, entry.format, place);
      continue;
    }
    entries.set(keyOf(entry.topic, entry.partition), entry);
  }
  return entries;
}

/** The durable offsets of a group, also while another process writes them. */
export async function readGroup(folder: string, group: string): Promise<ReadonlyMap<string, GroupOffset>> {
  const file = join(groupsFolder(folder), `${group}${ending}`);
  try {
    return decodeJournal(await readFile(file, 'utf8'), file);
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return new Map();
    throw thrown;
  }
}

export async function listGroups(folder: string): Promise<string[]> {
  try {
    return (await readdir(groupsFolder(folder)))
      .filter((name) => name.endsWith(ending))
      .map((name) => name.slice(0, -ending.length));
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return [];
    throw thrown;
  }
}

/** Writes every journal of the folder anew, in this program's version. */
export async function rewriteGroups(folder: string): Promise<readonly string[]> {
  const groups = await listGroups(folder);
  for (const group of groups)
    await writeDurably(
      join(groupsFolder(folder), `${group}${ending}`),
      encodeJournal((await readGroup(folder, group)).values()),
    );
  return groups;
}

export class GroupOffsets {
  readonly group: string;
  readonly #file: string;
  readonly #log: Log;
  readonly #mayLog = createRateLimit(6);
  readonly #entries: Map<string, GroupOffset>;
  readonly #durable: Map<string, GroupOffset>;
  #changed = new Set<string>();
  /** Undefined: the journal is written anew before the next line. */
  #handle: FileHandle | undefined;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(folder: string, group: string, entries: ReadonlyMap<string, GroupOffset>, log: Log) {
    this.group = group;
    this.#file = join(groupsFolder(folder), `${group}${ending}`);
    this.#log = log;
    this.#entries = new Map(entries);
    this.#durable = new Map(entries);
  }

  get(topic: string, partition: number): GroupOffset | undefined {
    return this.#entries.get(keyOf(topic, partition));
  }

  /** Entries that a crash cannot take back. */
  durable(topic: string, partition: number): GroupOffset | undefined {
    return this.#durable.get(keyOf(topic, partition));
  }

  /** Counts at once; durable a moment later, at the latest after `flush`. */
  set(entry: GroupOffset): void {
    const key = keyOf(entry.topic, entry.partition);
    this.#entries.set(key, entry);
    this.#changed.add(key);
    this.#schedule(flushEveryMs);
  }

  /** Rejects when the disk refuses; the entries are kept and tried again. */
  flush(): Promise<void> {
    const flushed = this.#flushing.then(() => this.#write());
    this.#flushing = flushed.catch(() => {});
    return flushed;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    try {
      await this.flush();
    } finally {
      await this.#close();
    }
  }

  #schedule(milliseconds: number): void {
    if (this.#timer !== undefined || this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.flush().catch((thrown: unknown) => {
        const { allowed, suppressed } = this.#mayLog('flush');
        if (allowed) embeddedEvents.offsetsUnwritten(this.#log, { group: this.group, suppressed }, errorText(thrown));
        this.#schedule(retryEveryMs);
      });
    }, milliseconds).unref();
  }

  async #write(): Promise<void> {
    const changed = this.#changed;
    if (changed.size === 0) return;
    this.#changed = new Set();
    const entries = [...changed].map((key) => [key, this.#entries.get(key) as GroupOffset] as const);
    try {
      if (this.#handle === undefined || this.#bytes > maxJournalBytes) await this.#writeAnew();
      else await this.#writeLines(this.#handle, entries.map(([, entry]) => encodeLine(entry)).join(''));
    } catch (thrown) {
      for (const key of changed) this.#changed.add(key);
      await this.#close().catch(() => {});
      throw thrown;
    }
    for (const [key, entry] of entries) this.#durable.set(key, entry);
  }

  async #writeLines(handle: FileHandle, lines: string): Promise<void> {
    await handle.appendFile(lines);
    await handle.datasync();
    this.#bytes += lines.length;
  }

  async #writeAnew(): Promise<void> {
    await this.#close();
    const content = encodeJournal(this.#entries.values());
    await mkdir(join(this.#file, '..'), { recursive: true });
    await writeDurably(this.#file, content);
    this.#handle = await open(this.#file, 'a');
    this.#bytes = content.length;
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}
