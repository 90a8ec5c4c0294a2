/**
 * Writes that wait: those for one index are joined into one transaction; what a failed one really did is read from the
 * file.
 */
import { at } from '../../../../core/at.js';
import type { DocumentUpdate, WriteRequest, WriteResult } from '../../contract.js';
import { updateDocuments, writeById } from './by-id.js';
import type { Catalog, IndexEntry } from '../files/catalog.js';
import { endIfDamaged, storeError, writeError } from '../failures.js';
import { markerKey, type IndexFile } from '../files/index-file.js';
import { Linger, WriteRate } from './linger.js';
import { parseWrite, writeGroup, type ParsedWrite } from './writer.js';

/** Documents of the requests that are joined into one transaction; more make the pause of one commit long. */
const groupDocuments = 20_000;

interface WaitingWrite {
  readonly write: ParsedWrite;
  readonly resolve: (result: WriteResult) => void;
  readonly reject: (thrown: unknown) => void;
}

export class WriteQueue {
  readonly #catalog: Catalog;
  readonly #lingerMs: number;
  readonly #waiting = new Map<IndexEntry, WaitingWrite[]>();
  readonly rate = new WriteRate();
  readonly #lingers = new WeakMap<IndexEntry, Linger>();
  readonly #lingering = new Map<Linger, Promise<void>>();

  /** `lingerMs`: how long a small write waits for those of other partitions. */
  constructor(catalog: Catalog, lingerMs: number) {
    this.#catalog = catalog;
    this.#lingerMs = lingerMs;
  }

  write(request: WriteRequest): Promise<WriteResult> {
    const entry = this.#catalog.need(request.index);
    const write = parseWrite(request);
    if (request.replay !== undefined)
      return entry.exclusive(async () => ({
        ...(await this.#change(entry, (file) => writeById(file, write))),
        indexBytes: this.#catalog.bytes(entry),
      }));
    return new Promise((resolve, reject) => {
      const linger = this.#lingerOf(entry);
      linger.arrived(markerKey(request.topic, request.topicGeneration, request.partition), request.ids.length);
      const waiting = this.#waiting.get(entry);
      if (waiting !== undefined) {
        waiting.push({ write, resolve, reject });
        return;
      }
      this.#waiting.set(entry, [{ write, resolve, reject }]);
      this.#lingering.set(linger, this.#drainSoon(entry, linger));
    });
  }

  /** Writes what waits for company without it. */
  async flush(): Promise<void> {
    for (const linger of this.#lingering.keys()) linger.end();
    await Promise.all(this.#lingering.values());
  }

  #lingerOf(entry: IndexEntry): Linger {
    const linger = this.#lingers.get(entry) ?? new Linger(this.#lingerMs, this.rate);
    this.#lingers.set(entry, linger);
    return linger;
  }

  async #drainSoon(entry: IndexEntry, linger: Linger): Promise<void> {
    await linger.wait();
    await entry.exclusive(() => {
      linger.left();
      this.#lingering.delete(linger);
      return this.#drain(entry);
    });
  }

  update(index: string, updates: readonly DocumentUpdate[]): Promise<readonly (string | undefined)[]> {
    const entry = this.#catalog.need(index);
    return entry.exclusive(() => this.#change(entry, (file) => updateDocuments(file, updates)));
  }

  /**
   * One transaction of its own. One whose outcome is unknown is for the caller to repeat: what it did before is found
   * again by id or revision.
   */
  #change<Result>(entry: IndexEntry, work: (file: IndexFile) => Promise<Result>): Promise<Result> {
    return this.#catalog.inTurn(async () => {
      const file = await this.#attach(entry);
      try {
        return await this.#catalog.use(() => work(file));
      } catch (thrown) {
        endIfDamaged(thrown);
        await this.#recover(entry, file);
        throw writeError(thrown, entry.name);
      }
    });
  }

  async #attach(entry: IndexEntry): Promise<IndexFile> {
    if (this.#catalog.find(entry.name) !== entry) throw storeError('STORE_INDEX_MISSING', entry.name);
    if (entry.closed) throw storeError('STORE_INDEX_CLOSED', entry.name);
    return this.#catalog.attachLocked(entry);
  }

  /** Writes what waits for this index, group by group, until nothing does. Never rejects. */
  async #drain(entry: IndexEntry): Promise<void> {
    const waiting = this.#waiting.get(entry) ?? [];
    this.#waiting.delete(entry);
    while (waiting.length > 0) {
      const group = nextGroup(waiting);
      try {
        const results = await this.#catalog.inTurn(() =>
          this.#writeOnce(
            entry,
            group.map((one) => one.write),
          ),
        );
        const indexBytes = this.#catalog.bytes(entry);
        group.forEach((one, index) => one.resolve({ ...at(results, index), indexBytes }));
      } catch (thrown) {
        for (const one of group) one.reject(thrown);
      }
    }
  }

  async #writeOnce(entry: IndexEntry, writes: readonly ParsedWrite[]): Promise<WriteResult[]> {
    const file = await this.#attach(entry);
    const before = new Map(file.markers);
    try {
      return await this.#catalog.use(() => writeGroup(file, writes));
    } catch (thrown) {
      endIfDamaged(thrown);
      const now = await this.#recover(entry, file);
      return writes.map(({ request }) => committedAnyway(request, before, now, thrown));
    }
  }

  /**
   * A failed COMMIT may be durable all the same: only the file, attached anew, knows. Most errors spoil this file's
   * attachment alone; when it cannot even be detached, the whole instance is spoilt.
   */
  async #recover(entry: IndexEntry, file: IndexFile): Promise<IndexFile> {
    if (entry.file !== file) return this.#catalog.attachLocked(entry);
    await this.#catalog.use(() => file.connection.run('ROLLBACK')).catch(() => undefined);
    try {
      await this.#catalog.detachLocked(entry);
    } catch {
      await this.#catalog.reopen();
    }
    return this.#catalog.attachLocked(entry);
  }
}

function nextGroup(waiting: WaitingWrite[]): WaitingWrite[] {
  let documents = 0;
  let count = 0;
  while (
    count < waiting.length &&
    (count === 0 || documents + (waiting[count]?.write.request.ids.length ?? 0) <= groupDocuments)
  ) {
    documents += waiting[count]?.write.request.ids.length ?? 0;
    count += 1;
  }
  return waiting.splice(0, count);
}

/** The answer to a request whose transaction failed, by the marker that the file has now. */
function committedAnyway(
  request: WriteRequest,
  before: ReadonlyMap<string, number>,
  now: IndexFile,
  thrown: unknown,
): WriteResult {
  const key = markerKey(request.topic, request.topicGeneration, request.partition);
  if ((now.markers.get(key) ?? 0) < request.nextOffset) throw writeError(thrown, request.index);
  const marker = before.get(key) ?? 0;
  const stored = request.offsets.filter((offset) => offset >= marker).length;
  return { stored, alreadyStored: request.ids.length - stored, failures: [] };
}
