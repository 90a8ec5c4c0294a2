/** Loads rule files again when they change: as a whole or not at all. */
import { watch, type FSWatcher } from 'node:fs';
import { compileRules, type Compiled } from './compile.js';
import { readRuleSource, versionOf, type ReadOptions } from './source.js';
import type { RuleSource } from './contract.js';

export interface WatchOptions {
  readonly defaults?: boolean;
  /** A change is taken when the files have been quiet for this long: editors and config maps write in steps. In milliseconds. */
  readonly quietMs?: number;
  /** Network and container mounts send no notices, so the files are also read this often. In milliseconds. */
  readonly pollMs?: number;
  /** What runs now: changes are told from it. Without it the first reading is reported too. */
  readonly version?: string;
  /** See ReadOptions. */
  readonly more?: ReadOptions['more'];
  /** Says at once that they may have changed; returns a stop function. */
  readonly notices?: ((onNotice: () => void) => () => void) | undefined;
}

/** The files as they are now, compiled or with their problems, or why they could not be read. */
export type RuleChange =
  | { readonly source: RuleSource; readonly version: string; readonly compiled: Compiled }
  | { readonly error: unknown };

export interface RuleWatch {
  close(): void;
}

/** Calls back once for each state of the files that differs from the last; a state that cannot be read is reported once. */
export function watchRules(
  folder: string,
  onChange: (change: RuleChange) => void,
  options: WatchOptions = {},
): RuleWatch {
  const { defaults = true, quietMs = 200, pollMs = 2_000, more } = options;
  let last = options.version ?? '';
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
    const change = await readChange(folder, { defaults, more }, last);
    reading = false;
    if (closed) return;
    if (change !== undefined) {
      last = 'error' in change ? `error ${String(change.error)}` : change.version;
      onChange(change);
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
  const endNotices = options.notices?.(() => void read());
  if (options.version === undefined) soon();
  return {
    close: () => {
      closed = true;
      clearTimeout(quiet);
      clearInterval(poll);
      watcher?.close();
      endNotices?.();
    },
  };
}

async function readChange(folder: string, options: ReadOptions, last: string): Promise<RuleChange | undefined> {
  try {
    const source = await readRuleSource(folder, options);
    const version = versionOf(source);
    return version === last ? undefined : { source, version, compiled: compileRules(source) };
  } catch (error) {
    return last === `error ${String(error)}` ? undefined : { error };
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
