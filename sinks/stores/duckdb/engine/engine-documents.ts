/** Documents written and read by id. */
import type { DocumentUpdate, FoundDocument, WriteRequest, WriteResult } from '../../contract.js';
import type { Catalog } from '../files/catalog.js';
import { markerKey } from '../files/index-file.js';
import { readDocuments } from '../write/by-id.js';
import type { WriteQueue } from '../write/write-queue.js';
import { withFile } from './exclusive-file.js';
import type { Readers } from './readers.js';

export class EngineDocuments {
  readonly #catalog: Catalog;
  readonly #writes: WriteQueue;
  readonly #readers: Readers;

  constructor(catalog: Catalog, writes: WriteQueue, readers: Readers) {
    this.#catalog = catalog;
    this.#writes = writes;
    this.#readers = readers;
  }

  write(request: WriteRequest): Promise<WriteResult> {
    return this.#writes.write(request);
  }

  markers(index: string, topic: string, generation: number): Promise<ReadonlyMap<number, number>> {
    return withFile(this.#catalog, index, async (file) => {
      const markers = new Map<number, number>();
      for (const [key, next] of file.markers) {
        const partition = Number.parseInt(key, 10);
        if (key === markerKey(topic, generation, partition)) markers.set(partition, next);
      }
      return markers;
    });
  }

  async read(index: string, ids: readonly string[]): Promise<ReadonlyMap<string, FoundDocument>> {
    const found = await this.#readers.lookUp(index, ({ connection, retained }, { file }) =>
      readDocuments(connection, file, ids, retained.ids),
    );
    return new Map(
      [...found].map(([id, { document, revision, tombstone }]) => [id, { document, revision, tombstone }]),
    );
  }

  update(index: string, updates: readonly DocumentUpdate[]): Promise<readonly (string | undefined)[]> {
    return this.#writes.update(index, updates);
  }
}
