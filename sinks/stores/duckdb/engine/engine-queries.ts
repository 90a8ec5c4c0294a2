/** Searches over index files. A scan goes page by page: the main thread joins the pages of all indices. */
import type {
  AggregateRequest,
  AggregateResult,
  ScanRequest,
  SearchHit,
  SearchRequest,
  SearchResult,
} from '../../../../schemas/query.js';
import { aggregateIndices } from '../aggregate/aggregate.js';
import type { Catalog } from '../files/catalog.js';
import { mayMatch } from '../files/time-span.js';
import { occurringFields } from '../search/occurring-fields.js';
import { scanDocuments, scanRows } from '../search/scan.js';
import { searchIndices } from '../search/search.js';
import type { IdPage, ScanPage, ScannedRows, WantedDocuments } from './contract.js';
import { withFile } from './exclusive-file.js';
import type { Readers } from './readers.js';

/** Ids of one page of a scan. */
const pageRows = 20_000;

export class EngineQueries {
  readonly #catalog: Catalog;
  readonly #readers: Readers;

  constructor(catalog: Catalog, readers: Readers) {
    this.#catalog = catalog;
    this.#readers = readers;
  }

  search(request: SearchRequest): Promise<SearchResult> {
    return this.#readers.search(request.signal, this.#ofTime(request), (reading) => searchIndices(reading, request));
  }

  aggregate(request: AggregateRequest): Promise<AggregateResult> {
    return this.#readers.search(request.signal, this.#ofTime(request), (reading) => aggregateIndices(reading, request));
  }

  occurringFields(request: ScanRequest): Promise<ReadonlySet<string>> {
    return this.#readers.search(request.signal, this.#ofTime(request), (reading) => occurringFields(reading, request));
  }

  /** Rows of each index now. */
  async countRows(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = new Map<string, number>();
    for (const name of new Set(names))
      rows.set(name, await withFile(this.#catalog, name, async (file) => file.documents));
    return rows;
  }

  scanRows(page: ScanPage): Promise<ScannedRows> {
    return this.#readers.searchAll(page.signal, [page.index], (reading) => scanRows(reading, page));
  }

  /** Parallel to `wanted`, each in its order. */
  scanDocuments({ signal, wanted, fields }: WantedDocuments): Promise<SearchHit[][]> {
    const names = wanted.map(({ index }) => index);
    return this.#readers.searchAll(signal, names, (reading) => scanDocuments(reading, wanted, fields));
  }

  scanIds(index: string, fromRow: number): Promise<IdPage> {
    return withFile(this.#catalog, index, async (file) => {
      const end = fromRow + pageRows;
      const sql = `SELECT _id FROM ${file.alias}.documents WHERE rowid >= ${fromRow} AND rowid < ${end}`;
      const rows = (await file.connection.runAndReadAll(sql)).getRows();
      return { ids: rows.map((row) => String(row[0])), nextRow: end < file.documents ? end : undefined };
    });
  }

  /** Without indices whose rows are known to lie outside of the range of time. */
  #ofTime(request: Pick<SearchRequest, 'indices' | 'from' | 'to'>): string[] {
    return request.indices.filter((name) => {
      const entry = this.#catalog.find(name);
      return entry === undefined || entry.closed || mayMatch((entry.file ?? entry.facts)?.times, request);
    });
  }
}
