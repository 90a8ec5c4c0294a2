/** Retention: which indices must go, and their end once every partition has passed them (delivery protocol, rule 7). */
import { buildMetrics, type BuiltMetrics } from '../../../core/metrics.js';
import { errorText } from '../../../core/errors.js';
import type { IndexSetDefinition } from '../../../schemas/index-sets.js';
import type { IndexSetsOptions, IndexState, StoredIndexState } from '../contract.js';
import { indexSetMetrics } from '../metrics.js';
import type { RetentionAction } from './contract.js';
import { expiredIndices } from './registry.js';
import { indexSetEvents } from '../events.js';

type States = ReadonlyMap<string, StoredIndexState>;

export class Retirement {
  readonly #options: IndexSetsOptions;
  readonly #metrics: BuiltMetrics<typeof indexSetMetrics>;

  constructor(options: IndexSetsOptions) {
    this.#options = options;
    this.#metrics = buildMetrics(options.registry, indexSetMetrics);
  }

  /** All sets; one that fails does not stop the others. */
  async check(): Promise<void> {
    const { ledger, log, maxTotalBytes } = this.#options;
    // Another processor may have rotated: its new index must not be taken for an old one.
    await ledger.refresh();
    const states = await ledger.indexStates();
    for (const set of this.#options.sets()) {
      try {
        await this.#expire(set, states);
      } catch (error) {
        indexSetEvents.retentionCheckFailed(log, { index_set: set.id, error: errorText(error) });
      }
    }
    const current = this.#current();
    for (const [name, { value }] of states)
      if (value.unwanted === true && !current.has(name)) await this.#startRetiring(name, 'delete', states);
    if (maxTotalBytes !== undefined) await this.#capTotal(maxTotalBytes);
    await this.#retirePassed();
  }

  #current(): ReadonlySet<string> {
    return new Set(Object.values(this.#options.ledger.currentIndices()));
  }

  async #expire(set: IndexSetDefinition, states: States): Promise<void> {
    const { ledger, store } = this.#options;
    const currentName = ledger.currentIndices()[set.id];
    const listed = await store.indices.list(set.id);
    const current = listed.findIndex(({ name }) => name === currentName);
    // What comes after the current one was made since by another processor.
    const known = current === -1 ? listed : listed.slice(0, current + 1);
    const counted = known.filter(({ name }) => name === currentName || isSubjectToRetention(states.get(name)?.value));
    for (const { name, action } of expiredIndices(set.retention, counted))
      await this.#startRetiring(name, action, states);
  }

  async #startRetiring(name: string, action: RetentionAction, states: States): Promise<void> {
    const { ledger } = this.#options;
    const found = states.get(name) ?? (await ledger.indexState(name));
    if (found?.value.state !== 'open') return;
    await ledger.writeIndexState(name, { ...found.value, state: 'retiring', action }, found.revision);
  }

  /** Deletes the oldest indices of all sets until all together are not larger than this. */
  async #capTotal(maxBytes: number): Promise<void> {
    const { ledger, store } = this.#options;
    const states = await ledger.indexStates();
    const infos = (await Promise.all(this.#options.sets().map((set) => store.indices.list(set.id)))).flat();
    let total = infos.reduce((sum, info) => sum + info.bytes, 0);
    const current = this.#current();
    for (const info of infos.filter(({ name }) => !current.has(name)).sort((a, b) => a.createdAt - b.createdAt)) {
      if (total <= maxBytes) return;
      await this.#startRetiring(info.name, 'delete', states);
      total -= info.bytes;
    }
  }

  /** Rule 7: closes or deletes only what no partition can write to any more. */
  async #retirePassed(): Promise<void> {
    const { ledger, passage } = this.#options;
    const retiring = [...(await ledger.indexStates())].filter(([, { value }]) => value.state === 'retiring');
    if (retiring.length === 0) return;
    const isPassed = await passage.read();
    for (const [name, found] of retiring) {
      if (!(await isPassed(name, found.value.indexSet))) continue;
      if ((await ledger.indexState(name))?.revision !== found.revision) continue;
      await this.#retire(name, found);
    }
  }

  async #retire(name: string, { value, revision }: StoredIndexState): Promise<void> {
    const { ledger, store, log } = this.#options;
    const action = value.action ?? 'delete';
    if (action === 'close') await store.indices.close(name);
    else await store.indices.delete(name);
    this.#options.forget(name);
    const state = action === 'close' ? 'closed' : 'deleted';
    // All processors may come this far with one index; who writes its state counts it.
    if (!(await ledger.writeIndexState(name, { ...value, state }, revision))) {
      if (action === 'close') await this.#undoLateClose(name);
      return;
    }
    this.#metrics.retirements.inc({ index_set: value.indexSet, action });
    indexSetEvents.indexRetired(log, { index: name, action });
  }

  /**
   * Another process closed it first, and somebody may have opened it again before this process closed it a second time.
   */
  async #undoLateClose(name: string): Promise<void> {
    const { ledger, store } = this.#options;
    if ((await ledger.indexState(name))?.value.state === 'open') await store.indices.open(name);
  }
}

const isSubjectToRetention = (state: IndexState | undefined): boolean =>
  state === undefined || (state.state === 'open' && state.reopened !== true);
