/**
 * An index store: named indices of documents. Two adapters, one suite: `test/sinks/stores/contract/contract.ts`.
 */
import type {
  AggregateRequest,
  AggregateResult,
  ScanRequest,
  SearchHit,
  SearchRequest,
  SearchResult,
} from '../../schemas/query.js';

export type FieldType = 'text' | 'string' | 'number' | 'boolean' | 'time';

export interface StoreCapabilities {
  readonly name: 'embedded' | 'opensearch';
  /**
   * How a document written twice is recognised: by its id in the index, or by its offset against the index's marker.
   */
  readonly deduplicates: 'id' | 'offset';
  /** Several processes may use one store. */
  readonly shared: boolean;
  /**
   * There is a write-ahead log that a checkpoint folds in; sizes are told at once. Otherwise they are told as of the
   * last refresh.
   */
  readonly checkpoints: boolean;
}

/** What every store can; an adapter adds what else it can. */
export const leastCapabilities: Omit<StoreCapabilities, 'name'> = {
  deduplicates: 'id',
  shared: false,
  checkpoints: false,
};

/** Documents of one partition's batch for one concrete index. Arrays run parallel. */
export interface WriteRequest {
  readonly index: string;
  readonly topic: string;
  readonly topicGeneration: number;
  readonly partition: number;
  /**
   * Offset after the batch that these documents came from: the embedded marker of (topic, generation, partition)
   * becomes this.
   */
  readonly nextOffset: number;
  readonly ids: readonly string[];
  /** Ascending. */
  readonly offsets: readonly number[];
  /** Each one JSON object, without `_id`. */
  readonly documents: readonly string[];
  /**
   * A replay (protocol rule 13): ids alone decide what is there already, whatever the store does otherwise; offsets and
   * markers are left out.
   */
  readonly replay?: {
    /**
     * By id: a document whose tombstone still has this revision takes its place; with another revision there it counts
     * as already stored.
     */
    readonly tombstones: ReadonlyMap<string, string>;
  };
}

/** A document read by its id. */
export interface FoundDocument {
  readonly document: Readonly<Record<string, unknown>>;
  /** Opaque. The same as long as nobody has changed the document. */
  readonly revision: string;
  /** Not a document but the mark of a refused one (protocol rule 10), hidden from search. */
  readonly tombstone: boolean;
}

export interface DocumentUpdate {
  readonly id: string;
  /** The whole new document, one JSON object. */
  readonly document: string;
  readonly expected: string;
}

export interface TombstoneRequest {
  readonly id: string;
  /** Revision of an older tombstone that the new one takes the place of, and of nothing else. */
  readonly renews?: string | undefined;
}

export interface WriteFailure {
  /** Place in the request's arrays. */
  readonly position: number;
  /**
   * `retry`: the same document may pass later (with STORE_DOCUMENT_FAILED it may also fail each time: bound the
   * attempts); `refused`: it never will.
   */
  readonly kind: 'retry' | 'refused';
  readonly code: string;
  readonly reason: string;
}

export interface WriteResult {
  readonly stored: number;
  readonly alreadyStored: number;
  /** Places of the already stored documents, where the store deduplicates by id; of a replay always. */
  readonly alreadyStoredAt?: readonly number[];
  /**
   * Bytes of the index after this write, those that come on top by themselves included, where the store knows them
   * without asking.
   */
  readonly indexBytes?: number;
  readonly failures: readonly WriteFailure[];
}

export interface IndexInfo {
  readonly name: string;
  readonly open: boolean;
  readonly documents: number;
  /** Embedded: database file and write-ahead log together. OpenSearch: primary store size. */
  readonly bytes: number;
  /** Embedded: bytes that come on top without another write, about: words that are not in the index yet. */
  readonly pendingBytes?: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

export interface IndexOptions {
  /** Read alias, the set's prefix (OpenSearch). */
  readonly alias: string;
  readonly shards: number;
  readonly replicas: number;
  readonly refreshIntervalMs: number;
}

/** The life of concrete indices. */
export interface StoreIndices {
  /** Succeeds when the index is there already. */
  create(name: string, options: IndexOptions): Promise<void>;
  /** Indices whose name is `<prefix>_<n>`, by n ascending. */
  list(prefix: string): Promise<readonly IndexInfo[]>;
  /** Names of the open indices of these sets, without looking into them. */
  openNames(prefixes: readonly string[]): Promise<readonly string[]>;
  close(name: string): Promise<void>;
  open(name: string): Promise<void>;
  /** Succeeds when the index is gone already. */
  delete(name: string): Promise<void>;
  /** Types of the fields the index knows. */
  fieldTypes(index: string): Promise<ReadonlyMap<string, FieldType>>;
  /**
   * Folds the write-ahead log into the database file, so that `bytes` is what the documents take. See
   * StoreCapabilities: elsewhere it does nothing.
   */
  checkpoint(index: string): Promise<void>;
  /** Makes everything written so far visible to search and to sizes. */
  refresh(indices: readonly string[]): Promise<void>;
}

/** What writes documents, and reads them by their ids. */
export interface StoreDocuments {
  /**
   * Writes with `create`: a document that is there already counts as `alreadyStored`. Resolves when what is stored is
   * durable, unless `sync` is needed after an already stored one (protocol rule 12).
   * Rejects (typed) only when nothing is known about the whole request: STORE_UNAVAILABLE, STORE_OVERLOADED,
   * STORE_DISK_FULL (retryable) or STORE_INDEX_BLOCKED, STORE_INDEX_MISSING, STORE_INDEX_CLOSED (this index only).
   */
  write(request: WriteRequest): Promise<WriteResult>;
  /** Everything written to the index before is durable when this resolves. */
  sync(index: string): Promise<void>;
  /** Embedded: the largest next offset of each partition in this index (protocol rule 11). OpenSearch: empty. */
  markers(index: string, topic: string, topicGeneration: number): Promise<ReadonlyMap<number, number>>;
  /** Documents by id as they are now, tombstones too; those that are not there are left out. */
  read(index: string, ids: readonly string[]): Promise<ReadonlyMap<string, FoundDocument>>;
  /**
   * Compare-and-set, durable when it resolves: each new revision, or undefined when the document has another one by now
   * or is gone.
   */
  update(index: string, updates: readonly DocumentUpdate[]): Promise<readonly (string | undefined)[]>;
  /**
   * Hidden documents with these ids that late copies of refused messages meet (protocol rule 10). For each, false when
   * the document itself stands there: a copy of it was taken after all. Rejects unless each of them stands as one or
   * the other; those that do stay. Where offsets deduplicate, nothing is written.
   */
  writeTombstones(index: string, tombstones: readonly TombstoneRequest[]): Promise<readonly boolean[]>;
}

/** What finds documents. Tombstones are never found. */
export interface StoreQueries {
  search(request: SearchRequest): Promise<SearchResult>;
  /**
   * Groups and measures, by the rules of `schemas/query.ts`; plain code for the same is in
   * `search/reference/aggregate.ts`.
   */
  aggregate(request: AggregateRequest): Promise<AggregateResult>;
  /**
   * Every document of the query in order, of what is searchable at the first batch, in batches of a few megabytes at
   * the most. Whole or it rejects: an index that is missing, closed or deleted meanwhile is an error. What it reads
   * from is given back when the iteration ends.
   */
  scan(request: ScanRequest): AsyncIterable<readonly SearchHit[]>;
  /** For the verifier: every id in these indices, in any order, batch by batch. */
  scanIds(indices: readonly string[], onIds: (ids: readonly string[]) => void | Promise<void>): Promise<void>;
  /** Names of the fields that documents of the query have; at least those of the documents that are searchable now. */
  occurringFields(request: ScanRequest): Promise<ReadonlySet<string>>;
  /** Whether a search finds this stored document already. */
  isSearchable(index: string, id: string): Promise<boolean>;
}

export interface IndexStore {
  capabilities(): StoreCapabilities;
  start(): Promise<void>;
  /** Flushes and closes until the deadline. Safe twice and without start. */
  stop(deadlineMs: number): Promise<void>;
  health(): Promise<{ readonly ok: boolean; readonly reason: string }>;
  readonly indices: StoreIndices;
  readonly documents: StoreDocuments;
  readonly queries: StoreQueries;
}
