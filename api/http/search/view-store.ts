/** Searches and views in the state store: bounded in size and number, changed by their owner or an administrator. */
import { randomBytes } from 'node:crypto';
import { isSluiceError } from '../../../core/errors.js';
import type { Identity } from '../../../schemas/access.js';
import type { StoredSearch, StoredView } from '../../../schemas/api-search.js';
import type { StateEntry, StateStore } from '../../../state/contract.js';
import { failure } from '../failure.js';

/** Largest search or view, as JSON. The largest dashboards take a fraction of it. */
const maxBytes = 512 * 1024;
/** Writes of the same search or view at once come one after the other. */
const maxAttempts = 5;

interface Owned {
  readonly id: string;
  readonly owner_id: string;
}

export interface ViewStore {
  search(id: string): Promise<StoredSearch | undefined>;
  /** Over one of the same id of the same owner; 403 when it is somebody else's. */
  saveSearch(search: StoredSearch, identity: Identity): Promise<void>;
  view(id: string): Promise<StoredView | undefined>;
  views(): Promise<readonly StoredView[]>;
  saveView(
    id: string,
    identity: Identity,
    make: (before: StoredView | undefined) => StoredView,
    must: 'exist' | 'any',
  ): Promise<StoredView>;
  deleteView(id: string, identity: Identity): Promise<StoredView>;
}

export const newObjectId = (): string => randomBytes(12).toString('hex');

interface ViewLimits {
  readonly maxSearches: number;
  readonly maxViews: number;
}

/** How a search or view is written over what is stored under its id. */
interface Writing<Stored extends Owned> {
  readonly key: string;
  readonly identity: Identity;
  readonly make: (before: Stored | undefined) => Stored;
  /** `exist`: only over one that is there. */
  readonly must: 'exist' | 'any';
  /** Before a new one is stored. */
  readonly onCreate: () => Promise<void>;
}

export function createViewStore(state: StateStore, limits: ViewLimits): ViewStore {
  return new StoredViews(state, limits);
}

class StoredViews implements ViewStore {
  readonly #state: StateStore;
  readonly #limits: ViewLimits;
  /** Searches that were made since they were counted. */
  #sinceCount = Infinity;

  constructor(state: StateStore, limits: ViewLimits) {
    this.#state = state;
    this.#limits = limits;
  }

  async search(id: string): Promise<StoredSearch | undefined> {
    return (await this.#state.get(`searches/${id}`))?.value as StoredSearch | undefined;
  }

  async saveSearch(search: StoredSearch, identity: Identity): Promise<void> {
    await this.#save<StoredSearch>({
      key: `searches/${search.id}`,
      identity,
      make: (before) => ({
        ...search,
        ...(before === undefined ? {} : { owner: before.owner, owner_id: before.owner_id }),
      }),
      must: 'any',
      onCreate: () => this.#makeRoomForSearch(),
    });
  }

  async view(id: string): Promise<StoredView | undefined> {
    return (await this.#state.get(`views/${id}`))?.value as StoredView | undefined;
  }

  async views(): Promise<readonly StoredView[]> {
    return (await this.#state.list('views/')).map(({ value }) => value as StoredView);
  }

  saveView(
    id: string,
    identity: Identity,
    make: (before: StoredView | undefined) => StoredView,
    must: 'exist' | 'any',
  ): Promise<StoredView> {
    return this.#save<StoredView>({
      key: `views/${id}`,
      identity,
      make,
      must,
      onCreate: () => this.#assertRoomForView(),
    });
  }

  async deleteView(id: string, identity: Identity): Promise<StoredView> {
    const entry = await this.#state.get(`views/${id}`);
    if (entry === undefined) throw missing();
    const view = entry.value as StoredView;
    assertOwner(view, identity);
    await this.#state.delete(entry.key, entry.revision);
    return view;
  }

  async #save<Stored extends Owned>({ key, identity, make, must, onCreate }: Writing<Stored>): Promise<Stored> {
    for (let attempt = 1; ; attempt += 1) {
      const entry = await this.#state.get(key);
      const before = entry?.value as Stored | undefined;
      if (before === undefined && must === 'exist') throw missing();
      assertOwner(before, identity);
      const made = make(before);
      assertSize(made);
      if (before === undefined) await onCreate();
      try {
        await this.#state.put(key, made, entry?.revision);
        return made;
      } catch (error) {
        if (!isSluiceError(error) || error.code !== 'STATE_CONFLICT' || attempt === maxAttempts) throw error;
      }
    }
  }

  async #assertRoomForView(): Promise<void> {
    const { maxViews } = this.#limits;
    if ((await this.#state.list('views/')).length >= maxViews)
      throw failure('API_QUOTA_REACHED', `There are ${maxViews} views already; no more are kept (api.max_views).`);
  }

  /**
   * Every client makes a search for each question it asks. They are counted now and then, and the oldest that no view
   * needs go.
   */
  async #makeRoomForSearch(): Promise<void> {
    const { maxSearches } = this.#limits;
    this.#sinceCount += 1;
    if (this.#sinceCount < maxSearches / 10) return;
    this.#sinceCount = 0;
    const entries = await this.#state.list('searches/');
    const tooMany = entries.length - Math.floor(maxSearches * 0.9);
    if (tooMany <= 0) return;
    const needed = new Set((await this.views()).map((view) => view.search_id));
    const oldest = entries
      .filter(({ value }) => !needed.has((value as StoredSearch).id))
      .sort((one, other) => createdAt(one).localeCompare(createdAt(other)))
      .slice(0, tooMany);
    for (const { key, revision } of oldest) await this.#state.delete(key, revision).catch(() => undefined);
    if (oldest.length < tooMany - maxSearches * 0.1)
      throw failure(
        'API_QUOTA_REACHED',
        `There are ${entries.length} searches, all of them in views; no more are kept (api.max_searches).`,
      );
  }
}

const createdAt = ({ value }: StateEntry): string => (value as StoredSearch).created_at;

const missing = (): Error => failure('API_NOT_FOUND', 'There is no such view.');

function assertOwner(before: Owned | undefined, identity: Identity): void {
  if (before !== undefined && before.owner_id !== identity.userId && !identity.administrator)
    throw failure('API_FORBIDDEN', 'Not allowed: this is of somebody else.');
}

function assertSize(stored: unknown): void {
  const bytes = Buffer.byteLength(JSON.stringify(stored));
  if (bytes > maxBytes) throw failure('API_TOO_LARGE', `This takes ${bytes} bytes; ${maxBytes} are kept at the most.`);
}
