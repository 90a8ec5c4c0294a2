/** An index store that takes everything, keeps nothing and counts: what is left is the program's own work. */
import { leastCapabilities, type IndexStore, type WriteRequest } from '../sinks/stores/contract.js';

interface NullStore extends IndexStore {
  readonly stored: () => number;
  /** Resolves when this many documents have been written. */
  reached(count: number): Promise<void>;
}

export function createNullStore(onWrite: (request: WriteRequest) => void = () => undefined): NullStore {
  const created = new Map<string, number>();
  let stored = 0;
  let waiting: { readonly count: number; readonly resolve: () => void } | undefined;
  const emptyHanded = async (): Promise<never> => {
    throw new Error('nothing is kept here');
  };
  const nothing = async (): Promise<void> => undefined;
  return {
    stored: () => stored,
    reached: (count) =>
      new Promise((resolve) => {
        waiting = { count, resolve };
        if (stored >= count) resolve();
      }),
    capabilities: () => ({ ...leastCapabilities, name: 'opensearch', shared: true }),
    start: nothing,
    stop: nothing,
    indices: {
      create: async (name) => {
        created.set(name, Date.now());
      },
      list: async (prefix) =>
        [...created]
          .filter(([name]) => name.startsWith(`${prefix}_`) && /^\d+$/.test(name.slice(prefix.length + 1)))
          .map(([name, createdAt]) => ({ name, open: true, documents: 0, bytes: 0, createdAt })),
      openNames: async () => [],
      close: nothing,
      open: nothing,
      delete: nothing,
      fieldTypes: async () => new Map(),
      checkpoint: nothing,
      refresh: nothing,
    },
    documents: {
      async write(request) {
        onWrite(request);
        stored += request.ids.length;
        if (waiting !== undefined && stored >= waiting.count) waiting.resolve();
        return { stored: request.ids.length, alreadyStored: 0, failures: [] };
      },
      sync: nothing,
      markers: async () => new Map(),
      read: async () => new Map(),
      update: async (_, updates) => updates.map(() => undefined),
      writeTombstones: async (_, tombstones) => tombstones.map(() => true),
    },
    queries: {
      search: emptyHanded,
      aggregate: emptyHanded,
      scan: () => {
        throw new Error('nothing is kept here');
      },
      scanIds: nothing,
      occurringFields: async () => new Set(),
      isSearchable: async () => true,
    },
    health: async () => ({ ok: true, reason: 'takes everything' }),
  };
}
