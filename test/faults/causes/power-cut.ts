/**
 * A power cut, injected: of everything that a program wrote into its data folder only what it had made durable is left.
 * Its calls are watched by a preloaded library (`power-cut.c`, needs a C compiler and the system's dynamic C library);
 * after `kill -9` the folder is put together again from the bytes and names that were synced, and, if wanted, from some
 * of the others, as a disk may have written them.
 */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { packageRoot } from '../../../core/process/package-root.js';

export interface PowerCut {
  /** Variables that the program is started with. */
  readonly environment: NodeJS.ProcessEnv;
  /** Before each start of the program: what the folder holds now counts as durable. */
  begin(): void;
  /**
   * After the program is gone by SIGKILL: the folder becomes what a power cut leaves. `kept` decides for each page of 4
   * KiB and each change of a name that was not synced whether the disk happens to have it; without it none is there.
   */
  cut(kept?: () => boolean): CutResult;
  close(): void;
}

interface CutResult {
  /** Files whose content is not what the program had written last. */
  readonly files: number;
  readonly bytes: number;
  /** Creations, renames and removals taken back. */
  readonly names: number;
}

const pageBytes = 4096;

/** Why a power cut cannot be injected here; undefined when it can. */
export function missingForPowerCut(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux';
  try {
    execFileSync('cc', ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'needs a C compiler (cc)';
  }
}

export function createPowerCut(dataFolder: string): PowerCut {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-power-'));
  const library = join(folder, 'power-cut.so');
  const [base, shadow] = [join(folder, 'base'), join(folder, 'shadow')];
  execFileSync('cc', [
    '-O2',
    '-shared',
    '-fPIC',
    '-o',
    library,
    join(packageRoot, 'test/faults/causes/power-cut.c'),
    '-ldl',
    '-lpthread',
  ]);
  return {
    environment: { LD_PRELOAD: library, POWER_CUT_ROOT: dataFolder, POWER_CUT_SHADOW: shadow },
    begin() {
      for (const stale of [base, shadow]) rmSync(stale, { recursive: true, force: true });
      mkdirSync(shadow);
      if (existsSync(dataFolder)) cpSync(dataFolder, base, { recursive: true, filter: isKept });
      else mkdirSync(base);
    },
    cut: (kept = () => false) => putTogether({ dataFolder, base, shadow, kept }),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A socket cannot be copied, and does not matter. */
function isKept(source: string): boolean {
  const found = lstatSync(source);
  return found.isFile() || found.isDirectory();
}

interface Parts {
  readonly dataFolder: string;
  readonly base: string;
  readonly shadow: string;
  readonly kept: () => boolean;
}

interface Change {
  readonly kind: string;
  readonly first: string;
  readonly second: string;
}

function putTogether(parts: Parts): CutResult {
  const { dataFolder, base, shadow, kept } = parts;
  const changes = existsSync(join(shadow, 'names'))
    ? readFileSync(join(shadow, 'names'), 'utf8').trimEnd().split('\n').map(parseChange)
    : [];
  const live = new Map<string, string>();
  changes.forEach((change) => apply(live, change));
  const lastPath = new Map([...live].map(([path, id]) => [id, path]));
  const { names, removed, lost } = durableNames(changes, kept);
  const after = join(dirname(base), 'after');
  rmSync(after, { recursive: true, force: true });
  cpSync(base, after, {
    recursive: true,
    filter: (source: string) => !removed.has(join(dataFolder, relative(base, source))),
  });
  let [files, bytes] = [0, 0];
  for (const [path, id] of names) {
    const target = join(after, relative(dataFolder, path));
    mkdirSync(dirname(target), { recursive: true });
    cpSync(id.startsWith('/') ? join(base, relative(dataFolder, id)) : join(shadow, id), target);
    const written = lastPath.get(id);
    const difference = written === undefined || !existsSync(written) ? 0 : keepPages(target, written, kept);
    if (difference > 0) files += 1;
    bytes += difference;
  }
  // Folders that the program makes are there: without files in them they do not matter.
  rmSync(dataFolder, { recursive: true, force: true });
  cpSync(after, dataFolder, { recursive: true });
  return { files, bytes, names: lost };
}

function parseChange(line: string): Change {
  const [kind = '', first = '', second = ''] = line.split('\t');
  return { kind, first, second };
}

/** Names of files by path: the id of their content, or their first path when they were never opened for writing. */
function apply(names: Map<string, string>, { kind, first, second }: Change, removed?: Set<string>): void {
  if (kind === 'E' || kind === 'C') names.set(first, second);
  else if (kind === 'R' || kind === 'L') {
    const content = names.get(first) ?? first;
    if (kind === 'R') {
      names.delete(first);
      removed?.add(first);
    }
    names.set(second, content);
  } else if (kind === 'U') {
    names.delete(first);
    removed?.add(first);
  }
}

/**
 * Metadata reaches the disk in the order of the calls: a sync of any file or folder takes along every change of a name
 * before it, as journaling file systems do.
 */
function durableNames(
  changes: readonly Change[],
  kept: () => boolean,
): { names: Map<string, string>; removed: Set<string>; lost: number } {
  let durable = changes.findLastIndex(({ kind }) => kind === 'F');
  while (durable + 1 < changes.length && (isOpening(changes[durable + 1]) || kept())) durable += 1;
  const names = new Map<string, string>();
  const removed = new Set<string>();
  changes.forEach((change, place) => {
    if (place <= durable || change.kind === 'E') apply(names, change, removed);
  });
  return { names, removed, lost: changes.slice(durable + 1).filter((change) => !isOpening(change)).length };
}

const isOpening = (change: Change | undefined): boolean => change?.kind === 'E';

/**
 * Pages of `written` that `target` lacks are taken over where `kept` says so. Returns the bytes that differ afterwards.
 */
function keepPages(target: string, written: string, kept: () => boolean): number {
  const [to, from] = [openSync(target, 'r+'), openSync(written, 'r')];
  const [ours, theirs] = [Buffer.alloc(pageBytes), Buffer.alloc(pageBytes)];
  let differing = 0;
  try {
    const [size, other] = [fstatSync(to).size, fstatSync(from).size];
    for (let at = 0; at < Math.max(size, other); at += pageBytes) {
      const have = readSync(to, ours, 0, pageBytes, at);
      const wrote = readSync(from, theirs, 0, pageBytes, at);
      if (have === wrote && ours.compare(theirs, 0, wrote, 0, have) === 0) continue;
      if (wrote > 0 && kept()) writeSync(to, theirs, 0, wrote, at);
      else differing += Math.max(have, wrote);
    }
    if (other < size && kept()) ftruncateSync(to, other);
  } finally {
    closeSync(to);
    closeSync(from);
  }
  return differing;
}
