/**
 * What people ask of single indices. It is written in the index's state, as retention does: no partition loses an index
 * that it may still write to.
 */
import type { IndexInfo, IndexStore } from '../stores/contract.js';
import type {
  IndexLedger,
  IndexRequests,
  IndexState,
  IndexSummary,
  RotationOutcome,
  StoredIndexState,
} from './contract.js';
import { indexSetErrors } from './errors.js';

interface IndexRequestsOptions {
  readonly ledger: IndexLedger;
  readonly store: IndexStore;
  /** Learns which index sets there are now. */
  readonly follow: () => Promise<void>;
  /** See IndexSets. */
  readonly rotate: (indexSet: string) => Promise<boolean>;
  readonly retireSoon: () => void;
}

export function createIndexRequests(options: IndexRequestsOptions): IndexRequests {
  return new StoredIndexRequests(options);
}

class StoredIndexRequests implements IndexRequests {
  readonly #options: IndexRequestsOptions;

  constructor(options: IndexRequestsOptions) {
    this.#options = options;
  }

  async rotate(indexSet: string): Promise<RotationOutcome> {
    const { ledger, follow, rotate } = this.#options;
    await follow();
    if (ledger.currentIndices()[indexSet] === undefined) return 'absent';
    return (await rotate(indexSet)) ? 'rotated' : 'overtaken';
  }

  async list(indexSets: readonly string[]): Promise<readonly IndexSummary[]> {
    const { ledger, store } = this.#options;
    await ledger.refresh();
    const states = await ledger.indexStates();
    const summaries = await Promise.all(
      indexSets.map(async (indexSet) =>
        (await store.indices.list(indexSet)).map((info) => ({
          ...summaryOf(info, states.get(info.name)?.value),
          indexSet,
          current: this.#isCurrent(info.name),
        })),
      ),
    );
    return summaries.flat();
  }

  async retire(index: string, action: 'close' | 'delete'): Promise<void> {
    await this.#options.ledger.refresh();
    await this.#startRetiring(index, action);
    this.#options.retireSoon();
  }

  async reopen(index: string): Promise<void> {
    const { value, revision } = await this.#stateOf(index);
    const { indexSet, number, createdAt, state } = value;
    if (state !== 'closed' && state !== 'open')
      throw indexSetErrors.create('PIPELINE_INDEX_CHANGED', { place: index, got: `state ${state}`, allowed: 'closed' });
    if (state === 'closed')
      await this.#write(index, { indexSet, number, createdAt, state: 'open', reopened: true }, revision);
    // In this order: who closes it late, because of the state before, finds the new one and opens the index again.
    await this.#options.store.indices.open(index);
  }

  async retireAll(indexSet: string): Promise<void> {
    const { ledger, retireSoon } = this.#options;
    await ledger.refresh();
    for (const [index, { value, revision }] of await ledger.indexStates()) {
      if (value.indexSet !== indexSet || value.state === 'deleted') continue;
      if (this.#isCurrent(index)) await this.#write(index, { ...value, unwanted: true }, revision);
      else await this.#startRetiring(index, 'delete');
    }
    retireSoon();
  }

  async leaving(indexSet: string): Promise<boolean> {
    const { ledger } = this.#options;
    await ledger.refresh();
    const index = ledger.currentIndices()[indexSet];
    return index !== undefined && (await ledger.indexState(index))?.value.unwanted === true;
  }

  #isCurrent(index: string): boolean {
    return Object.values(this.#options.ledger.currentIndices()).includes(index);
  }

  async #stateOf(index: string): Promise<StoredIndexState> {
    const found = await this.#options.ledger.indexState(index);
    if (found === undefined || found.value.state === 'deleted')
      throw indexSetErrors.create('PIPELINE_INDEX_UNKNOWN', { place: index });
    return found;
  }

  async #write(index: string, state: IndexState, revision: string): Promise<void> {
    if (!(await this.#options.ledger.writeIndexState(index, state, revision)))
      throw indexSetErrors.create('PIPELINE_INDEX_CHANGED', { place: index });
  }

  async #startRetiring(index: string, action: 'close' | 'delete'): Promise<void> {
    const { value, revision } = await this.#stateOf(index);
    if (this.#isCurrent(index)) throw indexSetErrors.create('PIPELINE_INDEX_IN_USE', { place: index });
    // Some process may be deleting it already.
    const isDeleting = value.state === 'retiring' && (value.action ?? 'delete') === 'delete';
    if (isDeleting && action === 'delete') return;
    if (isDeleting) throw indexSetErrors.create('PIPELINE_INDEX_CHANGED', { place: index, got: 'it is being deleted' });
    const { indexSet, number, createdAt } = value;
    await this.#write(index, { indexSet, number, createdAt, state: 'retiring', action }, revision);
  }
}

function summaryOf(
  { name, open, documents, bytes, createdAt }: IndexInfo,
  stored: IndexState | undefined,
): Omit<IndexSummary, 'indexSet' | 'current'> {
  return {
    name,
    state: stateOf(open, stored),
    reopened: stored?.reopened === true,
    documents,
    bytes,
    createdAt: stored?.createdAt ?? createdAt,
  };
}

function stateOf(open: boolean, stored: IndexState | undefined): IndexSummary['state'] {
  if (stored?.state === 'retiring') return stored.action === 'close' ? 'closing' : 'deleting';
  return open ? 'open' : 'closed';
}
