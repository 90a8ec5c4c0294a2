/** What the search layer needs of an index store; both adapters have it. */
import type {
  AggregateRequest,
  AggregateResult,
  ScanRequest,
  SearchHit,
  SearchRequest,
  SearchResult,
} from '../schemas/query.js';
import type { FieldType } from './contract.js';

export interface SearchableStore {
  readonly indices: {
    /** Names of the open indices of these sets. */
    openNames(prefixes: readonly string[]): Promise<readonly string[]>;
    fieldTypes(index: string): Promise<ReadonlyMap<string, FieldType>>;
  };
  readonly documents: {
    read(
      index: string,
      ids: readonly string[],
    ): Promise<
      ReadonlyMap<string, { readonly document: Readonly<Record<string, unknown>>; readonly tombstone: boolean }>
    >;
  };
  readonly queries: {
    search(request: SearchRequest): Promise<SearchResult>;
    aggregate(request: AggregateRequest): Promise<AggregateResult>;
    /** Every document in order, of one snapshot. */
    scan(request: ScanRequest): AsyncIterable<readonly SearchHit[]>;
    /** Names of the fields that documents of the query have. */
    occurringFields(request: ScanRequest): Promise<ReadonlySet<string>>;
  };
}
