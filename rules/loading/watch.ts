/** Watches the rule files of a folder. */
import { watch, type FSWatcher } from 'node:fs';
import { readRuleSource, versionOf } from './source.js';
import type { RuleSource } from '../contract.js';

export interface WatchOptions {
  readonly defaults?: boolean;
  /**
   * A change is taken when the files have been quiet for this long: editors and config maps write in steps. In
   * milliseconds.
   */
  readonly quietMs?: number;
  /** Network and container mounts send no notices, so the files are also read this often. In milliseconds. */
  readonly pollMs?: number;
  /**
   * Of the files as the caller has read them: changes are told from it. Without it the first reading is reported too.
   */
  readonly version?: string;
}

/** The files as they are now, or why they could not be read. */
export type FilesChange = { readonly source: RuleSource; readonly version: string } | { readonly error: unknown };

/**
 * Calls back once for each state of the files that differs from the last; a state that cannot be read is reported once.
 */
export function watchRuleFiles(
  folder: string,
  onChange: (change: FilesChange) => void,
  { defaults = true, quietMs = 200, pollMs = 2_000, version }: WatchOptions = {},
): () => void {
  let last = version ?? '';
  let reading = false;
  let again = false;
  let closed = false;
  let quiet: NodeJS.Timeout | undefined;

  const read = async (): Promise<void> => {
    if (reading || closed) {
      again = true;
      return;
    }
    reading = true;
    const now = await readState(folder, defaults);
    reading = false;
    if (closed) return;
    if (now.state !== last) {
      last = now.state;
      onChange(now.change);
    }
    if (again) soon();
    again = false;
  };
  const soon = (): void => {
    clearTimeout(quiet);
    quiet = setTimeout(() => void read(), quietMs);
  };
  const watcher = watchFolder(folder, soon);
  const poll = setInterval(() => void read(), pollMs);
  poll.unref();
  if (version === undefined) soon();
  return () => {
    closed = true;
    clearTimeout(quiet);
    clearInterval(poll);
    watcher?.close();
  };
}

/** The change, and what tells it from another one. */
async function readState(
  folder: string,
  defaults: boolean,
): Promise<{ readonly state: string; readonly change: FilesChange }> {
  try {
    const source = await readRuleSource(folder, { defaults });
    const version = versionOf(source);
    return { state: version, change: { source, version } };
  } catch (error) {
    return { state: `error ${String(error)}`, change: { error } };
  }
}

/** A folder that is not there yet is found by polling. */
function watchFolder(folder: string, onNotice: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(folder, { persistent: false }, onNotice);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
