/** The life of index files. */
import type { FieldType, IndexInfo, StoreIndices } from '../../contract.js';
import { storeError } from '../failures.js';
import type { Catalog, IndexEntry } from '../files/catalog.js';
import { fieldType } from '../files/fields.js';
import { withFile } from './exclusive-file.js';

export class EngineIndices implements StoreIndices {
  readonly #catalog: Catalog;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  create(name: string): Promise<void> {
    return this.#catalog.create(name);
  }

  async list(prefix: string): Promise<readonly IndexInfo[]> {
    const infos: IndexInfo[] = [];
    for (const entry of this.#catalog.ofPrefix(prefix)) infos.push(await this.#describe(entry));
    return infos;
  }

  async openNames(prefixes: readonly string[]): Promise<readonly string[]> {
    return prefixes.flatMap((prefix) =>
      this.#catalog
        .ofPrefix(prefix)
        .filter((entry) => !entry.closed)
        .map((entry) => entry.name),
    );
  }

  async close(name: string): Promise<void> {
    const entry = this.#find(name);
    await entry.exclusive(async () => {
      if (entry.closed) return;
      await this.#catalog.attachLocked(entry).catch(() => undefined);
      const facts = entry.file ?? { documents: 0, createdAt: this.#catalog.folder.bornAt(name) };
      this.#catalog.folder.markClosed(name, { documents: facts.documents, createdAt: facts.createdAt });
      entry.closed = true;
      await this.#catalog.inTurn(() => this.#catalog.detachLocked(entry));
    });
  }

  async open(name: string): Promise<void> {
    const entry = this.#find(name);
    await entry.exclusive(async () => {
      this.#catalog.folder.markOpen(name);
      entry.closed = false;
    });
  }

  async delete(name: string): Promise<void> {
    const entry = this.#catalog.find(name);
    if (entry === undefined) return;
    await entry.exclusive(async () => {
      await this.#catalog.inTurn(() => this.#catalog.detachLocked(entry)).catch(() => undefined);
      this.#catalog.folder.remove(name);
      this.#catalog.forget(entry);
    });
  }

  fieldTypes(index: string): Promise<ReadonlyMap<string, FieldType>> {
    return withFile(
      this.#catalog,
      index,
      async (file) => new Map([...file.fields.values()].map((field) => [field.name, fieldType(field.kind)])),
    );
  }

  async checkpoint(index: string): Promise<void> {
    await withFile(this.#catalog, index, (file) =>
      this.#catalog.inTurn(() => file.connection.run(`CHECKPOINT ${file.alias}`)),
    );
  }

  /** A committed document is visible. */
  async refresh(): Promise<void> {}

  #find(name: string): IndexEntry {
    const entry = this.#catalog.find(name);
    if (entry === undefined) throw storeError('STORE_INDEX_MISSING', name);
    return entry;
  }

  async #describe(entry: IndexEntry): Promise<IndexInfo> {
    if (entry.facts === undefined) await this.#catalog.attached(entry).catch(() => undefined);
    const facts = entry.file ?? entry.facts;
    return {
      name: entry.name,
      open: !entry.closed,
      documents: facts?.documents ?? 0,
      bytes: this.#catalog.folder.bytes(entry.name),
      pendingBytes: this.#catalog.pendingBytes(entry),
      createdAt: facts?.createdAt ?? this.#catalog.folder.bornAt(entry.name),
    };
  }
}
