/**
 * Long work of one process that every process of the API tells of, and ends on request. Its state stands in the shared
 * state, a few seconds
 * old; the work itself, and what comes of it, stay with the process that began it.
 */
import { randomUUID } from 'node:crypto';
import { errorText, isSluiceError } from '../../../../core/errors.js';
import type { Log } from '../../../../core/log.js';
import type { StateStore } from '../../../../state/contract.js';
import { apiEvents } from '../../../events.js';

/**
 * How often a process says how far its work is, and looks whether it was cancelled. Every change is read by all
 * processes that watch the state.
 */
const tellMs = 3_000;
/** Work that nobody spoke of for this long has gone with its process. Longer than clocks of machines differ. */
const lostMs = 60_000;

interface Work<Shown> {
  readonly shown: () => Shown;
  readonly cancel: () => void;
}

export interface SharedWork<Shown extends { readonly id: string }> {
  /**
   * `now`: others know of it when this resolves; otherwise after a few seconds, so that short work costs nothing. Never
   * rejects: a state that does not answer holds no work up.
   */
  begin(work: Work<Shown>, when: 'now' | 'soon'): Promise<void>;
  end(id: string): void;
  /** What other processes have under way, or have ended a while ago. */
  others(): Promise<readonly { readonly shown: Shown /** Its process has gone. */; readonly lost: boolean }[]>;
  /** For work of another process: ends it within a few seconds. */
  cancel(id: string): Promise<void>;
  stop(): void;
}

interface SharedWorkOptions {
  /** Undefined: there is no other process. */
  readonly state: StateStore | undefined;
  /** Ends with a slash. */
  readonly prefix: string;
  /** How long ended work can be looked at. 0: not at all. */
  readonly retainedMs: number;
  readonly log: Log;
  readonly tellMs?: number;
  readonly now?: () => number;
}

interface StoredWork<Shown> {
  readonly process: string;
  /** When its process last spoke of it. */
  readonly at: number;
  readonly ended: boolean;
  readonly cancelled: boolean;
  readonly shown: Shown;
}

interface Item<Shown> extends Work<Shown> {
  readonly key: string;
  ended: boolean;
  known: boolean;
  turn: Promise<void>;
}

export function createSharedWork<Shown extends { readonly id: string }>({
  state,
  prefix,
  retainedMs,
  log,
  now = Date.now,
  ...options
}: SharedWorkOptions): SharedWork<Shown> {
  const processId = randomUUID();
  const items = new Map<string, Item<Shown>>();
  let timer: NodeJS.Timeout | undefined;
  const keyOf = (id: string): string => `${prefix}${id}`;

  const write = async (item: Item<Shown>, store: StateStore): Promise<void> => {
    const { ended, key } = item;
    item.known = true;
    const entry = await store.get(key);
    const cancelled = (entry?.value as StoredWork<Shown> | undefined)?.cancelled === true;
    if (cancelled && !ended) item.cancel();
    const shown = item.shown();
    if (!ended || retainedMs > 0)
      await store.put(
        key,
        { process: processId, at: now(), ended, cancelled, shown } satisfies StoredWork<Shown>,
        entry?.revision,
      );
    else if (entry !== undefined) await store.delete(key, entry.revision);
    if (ended) forget(shown.id);
  };
  /** What failed is told the next time. */
  const tell = (item: Item<Shown>): Promise<void> => {
    item.turn = item.turn
      .then(() => (state === undefined ? undefined : write(item, state)))
      .catch((error: unknown) => {
        if (!isConflict(error)) apiEvents.longWorkUnshared(log, { error: errorText(error) });
      });
    return item.turn;
  };
  const forget = (id: string): void => {
    items.delete(id);
    if (items.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  const entries = async (store: StateStore): Promise<readonly StoredWork<Shown>[]> => {
    const all: StoredWork<Shown>[] = [];
    for (const { key, value, revision } of await store.list(prefix)) {
      const one = value as StoredWork<Shown>;
      const over = now() - one.at > Math.max(lostMs, retainedMs);
      if (over) await store.delete(key, revision).catch(ignoreConflict);
      else all.push(one);
    }
    return all;
  };

  return {
    async begin(work, when) {
      if (state === undefined) return;
      const { id } = work.shown();
      const item: Item<Shown> = { ...work, key: keyOf(id), ended: false, known: false, turn: Promise.resolve() };
      items.set(id, item);
      timer ??= setInterval(() => items.forEach((each) => void tell(each)), options.tellMs ?? tellMs).unref();
      if (when === 'now') await tell(item);
    },
    end(id) {
      const item = items.get(id);
      if (item === undefined) return;
      item.ended = true;
      if (item.known || retainedMs > 0) void tell(item);
      else forget(id);
    },
    async others() {
      if (state === undefined) return [];
      const foreign = (await entries(state)).filter((one) => one.process !== processId);
      return foreign.map(({ shown, ended, at }) => ({ shown, lost: !ended && now() - at > lostMs }));
    },
    async cancel(id) {
      if (state !== undefined) await markCancelled<Shown>(state, keyOf(id));
    },
    stop: () => clearInterval(timer),
  };
}

/** Its process sees it the next time that it says how far the work is. */
async function markCancelled<Shown>(state: StateStore, key: string): Promise<void> {
  for (;;) {
    const entry = await state.get(key);
    if (entry === undefined) return;
    const done = await state
      .put(key, { ...(entry.value as StoredWork<Shown>), cancelled: true }, entry.revision)
      .catch(ignoreConflict);
    // Undefined: its process has just said how far it is.
    if (done !== undefined) return;
  }
}

const isConflict = (error: unknown): boolean => isSluiceError(error) && error.code === 'STATE_CONFLICT';

function ignoreConflict(error: unknown): undefined {
  if (!isConflict(error)) throw error;
}
