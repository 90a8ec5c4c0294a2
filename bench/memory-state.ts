/** A state store in memory, for one process and one run. */
import type { StateEntry, StateStore } from '../state/contract.js';
import { stateErrors } from '../state/errors.js';

export function createMemoryState(): StateStore {
  const entries = new Map<string, StateEntry>();
  const watchers = new Set<{ readonly prefix: string; readonly onChange: () => void }>();
  let revisions = 0;
  const changed = (key: string): void => {
    for (const { prefix, onChange } of watchers) if (key.startsWith(prefix)) setImmediate(onChange);
  };
  const expect = (key: string, expected: string | undefined): void => {
    if (entries.get(key)?.revision !== expected) throw stateErrors.create('STATE_CONFLICT', { place: key });
  };
  return {
    start: async () => undefined,
    stop: async () => undefined,
    get: async (key) => entries.get(key),
    async put(key, value, expected) {
      expect(key, expected);
      const entry = { key, value: structuredClone(value), revision: String((revisions += 1)) };
      entries.set(key, entry);
      changed(key);
      return entry;
    },
    list: async (prefix) =>
      [...entries.values()].filter(({ key }) => key.startsWith(prefix)).sort((a, b) => (a.key < b.key ? -1 : 1)),
    async delete(key, expected) {
      expect(key, expected);
      entries.delete(key);
      changed(key);
    },
    watch(prefix, onChange) {
      const watcher = { prefix, onChange };
      watchers.add(watcher);
      return () => {
        watchers.delete(watcher);
      };
    },
  };
}
