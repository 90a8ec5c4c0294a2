/** An index store that takes everything, keeps nothing and counts: what is left is the program's own work. */
import type { IndexStore, WriteRequest } from '../sinks/stores/contract.js';

export interface NullStore extends IndexStore {
  readonly stored: () => number;
  /** Resolves when this many documents have been written. */
  reached(count: number): Promise<void>;
}

export function createNullStore(onWrite: (request: WriteRequest) => void = () => undefined): NullStore {
  const created = new Map<string, number>();
  let stored = 0;
  let waiting: { readonly count: number; readonly resolve: () => void } | undefined;
  const nothing = async (): Promise<void> => undefined;
  return {
    stored: () => stored,
    reached: (count) =>
      new Promise((resolve) => {
        waiting = { count, resolve };
        if (stored >= count) resolve();
      }),
    capabilities: () => ({ name: 'opensearch', deduplicates: 'id', shared: true }),
    start: nothing,
    stop: nothing,
    sync: nothing,
    closeIndex: nothing,
    openIndex: nothing,
    deleteIndex: nothing,
    refresh: nothing,
    scanIds: nothing,
    createIndex: async (name) => {
      created.set(name, Date.now());
    },
    listIndices: async (prefix) =>
      [...created]
        .filter(([name]) => name.startsWith(`${prefix}_`) && /^\d+$/.test(name.slice(prefix.length + 1)))
        .map(([name, createdAt]) => ({ name, open: true, documents: 0, bytes: 0, createdAt })),
    async write(request) {
      onWrite(request);
      stored += request.ids.length;
      if (waiting !== undefined && stored >= waiting.count) waiting.resolve();
      return { stored: request.ids.length, alreadyStored: 0, failures: [] };
    },
    writeTombstones: async (_, tombstones) => tombstones.map(() => true),
    read: async () => new Map(),
    update: async (_, updates) => updates.map(() => undefined),
    markers: async () => new Map(),
    fieldTypes: async () => new Map(),
    openIndices: async () => [],
    search: async () => {
      throw new Error('nothing is kept here');
    },
    aggregate: async () => {
      throw new Error('nothing is kept here');
    },
    scan: () => {
      throw new Error('nothing is kept here');
    },
    occurringFields: async () => new Set(),
    health: async () => ({ ok: true, reason: 'takes everything' }),
  };
}
