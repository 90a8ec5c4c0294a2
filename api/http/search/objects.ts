/** Searches and views as they are kept in the state store: bounded in size and number, changed by their owner or an administrator. */
import { randomBytes } from 'node:crypto';
import { isSluiceError } from '../../../core/errors.js';
import type { Identity } from '../../../schemas/access.js';
import type { StoredSearch, StoredView } from '../../../schemas/api-search.js';
import type { StateEntry, StateStore } from '../../../state/contract.js';
import { failure } from '../failure.js';

/** Of one search or view as JSON; the widgets of the largest dashboards take a fraction of it. */
const maxObjectBytes = 512 * 1024;
/** Two who write the same object at once: one of them comes after the other. */
const maxAttempts = 5;

interface Owned {
  readonly id: string;
  readonly owner_id: string;
}

export interface ApiDefinitions {
  search(id: string): Promise<StoredSearch | undefined>;
  /** Over one of the same id of the same owner; 403 when it is somebody else's. */
  saveSearch(search: StoredSearch, identity: Identity): Promise<void>;
  view(id: string): Promise<StoredView | undefined>;
  views(): Promise<readonly StoredView[]>;
  saveView(
    make: (before: StoredView | undefined) => StoredView,
    id: string,
    identity: Identity,
    must: 'exist' | 'any',
  ): Promise<StoredView>;
  deleteView(id: string, identity: Identity): Promise<StoredView>;
}

export const newObjectId = (): string => randomBytes(12).toString('hex');

export interface ObjectLimits {
  readonly maxSearches: number;
  readonly maxViews: number;
}

export function createObjects(state: StateStore, limits: ObjectLimits): ApiDefinitions {
  let sinceCount = Infinity;

  const save = async <Kept extends Owned>(
    prefix: string,
    id: string,
    identity: Identity,
    make: (before: Kept | undefined) => Kept,
    must: 'exist' | 'any',
    onCreate: () => Promise<void>,
  ): Promise<Kept> => {
    for (let attempt = 1; ; attempt += 1) {
      const entry = await state.get(`${prefix}/${id}`);
      const before = entry?.value as Kept | undefined;
      if (before === undefined && must === 'exist') throw missing();
      assertOwner(before, identity);
      const kept = make(before);
      assertSize(kept);
      if (before === undefined) await onCreate();
      try {
        await state.put(`${prefix}/${id}`, kept, entry?.revision);
        return kept;
      } catch (error) {
        if (!isSluiceError(error) || error.code !== 'STATE_CONFLICT' || attempt === maxAttempts) throw error;
      }
    }
  };
  /** Every client makes a search for each question it asks. They are counted now and then, and the oldest that no view needs go. */
  const makeRoomForSearch = async (): Promise<void> => {
    sinceCount += 1;
    if (sinceCount < limits.maxSearches / 10) return;
    sinceCount = 0;
    const entries = await state.list('searches/');
    const tooMany = entries.length - Math.floor(limits.maxSearches * 0.9);
    if (tooMany <= 0) return;
    const needed = new Set((await views(state)).map((view) => view.search_id));
    const oldest = entries
      .filter(({ value }) => !needed.has((value as StoredSearch).id))
      .sort((one, other) => createdAt(one).localeCompare(createdAt(other)))
      .slice(0, tooMany);
    for (const { key, revision } of oldest) await state.delete(key, revision).catch(() => undefined);
    if (oldest.length < tooMany - limits.maxSearches * 0.1)
      throw failure(
        'API_QUOTA_REACHED',
        `There are ${entries.length} searches, all of them in views; no more are kept (api.max_searches).`,
      );
  };

  return {
    search: async (id) => (await state.get(`searches/${id}`))?.value as StoredSearch | undefined,
    async saveSearch(search, identity) {
      await save<StoredSearch>(
        'searches',
        search.id,
        identity,
        (before) => ({
          ...search,
          ...(before === undefined ? {} : { owner: before.owner, owner_id: before.owner_id }),
        }),
        'any',
        makeRoomForSearch,
      );
    },
    view: async (id) => (await state.get(`views/${id}`))?.value as StoredView | undefined,
    views: () => views(state),
    saveView: (make, id, identity, must) =>
      save<StoredView>('views', id, identity, make, must, async () => {
        if ((await state.list('views/')).length >= limits.maxViews)
          throw failure(
            'API_QUOTA_REACHED',
            `There are ${limits.maxViews} views already; no more are kept (api.max_views).`,
          );
      }),
    async deleteView(id, identity) {
      const entry = await state.get(`views/${id}`);
      if (entry === undefined) throw missing();
      const view = entry.value as StoredView;
      assertOwner(view, identity);
      await state.delete(entry.key, entry.revision);
      return view;
    },
  };
}

async function views(state: StateStore): Promise<readonly StoredView[]> {
  return (await state.list('views/')).map(({ value }) => value as StoredView);
}

const createdAt = ({ value }: StateEntry): string => (value as StoredSearch).created_at;

const missing = (): Error => failure('API_NOT_FOUND', 'There is no such view.');

function assertOwner(before: Owned | undefined, identity: Identity): void {
  if (before !== undefined && before.owner_id !== identity.userId && !identity.administrator)
    throw failure('API_FORBIDDEN', 'Not allowed: this is of somebody else.');
}

function assertSize(kept: unknown): void {
  const bytes = Buffer.byteLength(JSON.stringify(kept));
  if (bytes > maxObjectBytes)
    throw failure('API_TOO_LARGE', `This takes ${bytes} bytes; ${maxObjectBytes} are kept at the most.`);
}
