/** The life of indices on OpenSearch. */
import type { FieldType, IndexInfo, IndexOptions, StoreIndices } from '../contract.js';
import { createIndex, fieldTypes, listIndices, openIndices, takesFlatNames } from './indices.js';
import { pathOf, sendExpecting, type Send } from './requests.js';

interface IndicesOptions {
  readonly maxFields: number;
  /** Default: what the engine's version can. */
  readonly flatNames?: boolean;
}

export class OpenSearchIndices implements StoreIndices {
  readonly #send: Send;
  readonly #maxFields: number;
  #flatNames: boolean | undefined;

  constructor(send: Send, { maxFields, flatNames }: IndicesOptions) {
    this.#send = send;
    this.#maxFields = maxFields;
    this.#flatNames = flatNames;
  }

  async create(name: string, options: IndexOptions): Promise<void> {
    this.#flatNames ??= await takesFlatNames(this.#send);
    await createIndex(this.#send, name, options, { maxFields: this.#maxFields, flatNames: this.#flatNames });
  }

  list(prefix: string): Promise<readonly IndexInfo[]> {
    return listIndices(this.#send, prefix);
  }

  openNames(prefixes: readonly string[]): Promise<readonly string[]> {
    return openIndices(this.#send, prefixes);
  }

  async close(name: string): Promise<void> {
    await sendExpecting(this.#send, { method: 'POST', path: pathOf(name, '_close') }, name);
  }

  async open(name: string): Promise<void> {
    await sendExpecting(this.#send, { method: 'POST', path: pathOf(name, '_open') }, name);
  }

  async delete(name: string): Promise<void> {
    await sendExpecting(this.#send, { method: 'DELETE', path: pathOf(name) }, name, [404]);
  }

  fieldTypes(index: string): Promise<ReadonlyMap<string, FieldType>> {
    return fieldTypes(this.#send, index);
  }

  /** The engine folds its translog in by itself. */
  async checkpoint(): Promise<void> {}

  async refresh(indices: readonly string[]): Promise<void> {
    for (const index of indices)
      await sendExpecting(this.#send, { method: 'POST', path: pathOf(index, '_refresh') }, index);
  }
}
