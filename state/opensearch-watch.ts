/** Watching an index by asking once a second whether anything in it has changed; only then are its entries compared. */
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { StateEntry } from './contract.js';
import { stateEvents } from './events.js';

const pollMs = 1_000;

export interface IndexWatch {
  add(prefix: string, onChange: () => void): () => void;
  stop(): void;
}

interface IndexWatchOptions {
  readonly log: Log;
  readonly place: string;
  /** The newest sequence number: another one after any change in the index. */
  readonly newest: () => Promise<number>;
  readonly sequenceOf: (entry: StateEntry) => number;
  readonly list: (prefix: string) => Promise<readonly StateEntry[]>;
}

interface Watcher {
  readonly prefix: string;
  readonly onChange: () => void;
  /** The newest change known when the watch began. */
  readonly since: number;
  /** Keys and revisions under the prefix when last seen; undefined until the first look. */
  seen: string | undefined;
}

/** Resolves when the state of now is known; from then on it is compared with. */
export async function createIndexWatch(options: IndexWatchOptions): Promise<IndexWatch> {
  const watchers = new Set<Watcher>();
  let newest = await options.newest();
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const look = async (watcher: Watcher): Promise<void> => {
    const entries = await options.list(watcher.prefix);
    const now = entries.map((entry) => `${entry.key} ${entry.revision}`).join('\n');
    const changed =
      watcher.seen === undefined
        ? entries.some((entry) => options.sequenceOf(entry) > watcher.since)
        : watcher.seen !== now;
    watcher.seen = now;
    if (changed && watchers.has(watcher)) watcher.onChange();
  };
  const poll = async (): Promise<void> => {
    const change = await options.newest();
    for (const watcher of watchers) if (change !== newest || watcher.seen === undefined) await look(watcher);
    newest = change;
  };
  const schedule = (): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      void poll()
        .catch((error: unknown) => {
          if (!stopped) stateEvents.stateWatchFailed(options.log, { index: options.place, error: errorText(error) });
        })
        .then(schedule);
    }, pollMs).unref();
  };
  schedule();

  return {
    add(prefix, onChange) {
      const watcher: Watcher = { prefix, onChange, since: newest, seen: undefined };
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    stop() {
      stopped = true;
      watchers.clear();
      clearTimeout(timer);
    },
  };
}
