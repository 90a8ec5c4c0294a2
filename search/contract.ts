/**
 * What the API, the command line and exports ask of the search layer. It adds the scope to every question: nobody
 * reaches a store without one.
 */
import type { SearchScope } from '../schemas/access.js';
import type { AggregateRequest, AggregateResult, Bucket, Metric, QueryNode, SearchHit } from '../schemas/query.js';

/** What is searched, before it is read: texts and times as people write them. */
export interface SearchQuestion {
  /** Query text (`docs/search.md`); empty or `*`: everything. */
  readonly query: string;
  /** Milliseconds since the epoch, half-open: from <= timestamp < to. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Only messages of these streams; undefined: of all that the scope allows. */
  readonly streams?: readonly string[] | undefined;
  /** Only these index sets; undefined: all but the dead letters. */
  readonly indexSets?: readonly string[] | undefined;
}

export interface SearchOptions {
  readonly scope: SearchScope;
  /** Cancels; the store stops working on it too. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until SEARCH_DEADLINE_EXCEEDED; at most and by default the setting. */
  readonly deadlineMs?: number | undefined;
  /**
   * Waiting searches are taken in turn by this key (a user name), so that one who asks much does not hold up the
   * others.
   */
  readonly fairnessKey?: string | undefined;
}

export interface TailOptions extends SearchOptions {
  /**
   * A reader that is more than 10,000 messages behind goes on with the newest ones, and is told here how many it does
   * not get. Without it, a slow reader gets every message, however late.
   */
  readonly onSkipped?: ((messages: number) => void) | undefined;
}

export interface SortOrder {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

export type FieldType = 'text' | 'string' | 'number' | 'boolean' | 'time';
export type FieldTypes = ReadonlyMap<string, FieldType>;

export interface MessagesRequest extends SearchQuestion {
  readonly limit: number;
  /** Skips this many; deep pages cost as much as reading them. Prefer `after`. */
  readonly offset?: number | undefined;
  readonly sort?: SortOrder | undefined;
  readonly fields?: readonly string[] | undefined;
  /** Default true. False: `total` is no more than the number of messages, for who knows it already. */
  readonly count?: boolean | undefined;
  /** Opaque: `next` of the page before. Pages have no gaps and no doubles. */
  readonly after?: string | undefined;
}

export interface MessagesAnswer {
  readonly total: number;
  /** `streams` of a message names only those that the scope allows. */
  readonly messages: readonly SearchHit[];
  readonly next?: string | undefined;
  /** Indices that could not be asked, with the reason: the answer is a part. */
  readonly failures: readonly { readonly index: string; readonly reason: string }[];
  readonly tookMs: number;
}

/**
 * What the newest message (by timestamp, then id) of those that have the field has in it: of any type, texts cut to
 * 10,000 characters. Nothing can be sorted by it.
 */
export interface LatestMetric {
  readonly kind: 'latest';
  readonly field: string;
}

export type SearchMetric = Metric | LatestMetric;
export type MetricValue = number | string | boolean | readonly unknown[] | null;

export function isLatest(metric: SearchMetric): metric is LatestMetric {
  return metric.kind === 'latest';
}

export interface AskedAggregate extends Pick<AggregateRequest, 'groups' | 'sort' | 'whole'> {
  readonly metrics: readonly SearchMetric[];
}

export interface SearchBucket extends Pick<Bucket, 'key' | 'documents'> {
  readonly values: readonly MetricValue[];
}

export interface AggregateAnswer
  extends Omit<AggregateResult, 'buckets' | 'whole' | 'failures'>,
    Pick<MessagesAnswer, 'failures' | 'tookMs'> {
  readonly buckets: readonly SearchBucket[];
  readonly whole?: SearchBucket | undefined;
}

export interface AggregateQuestion extends SearchQuestion {
  readonly aggregate: AskedAggregate;
}

export interface Searcher {
  /**
   * Rejects with a typed error: SEARCH_QUERY_INVALID (with the place), SEARCH_SORT_FIELD, SEARCH_CURSOR_INVALID,
   * SEARCH_LIMIT, SEARCH_QUEUE_FULL (retryable), SEARCH_DEADLINE_EXCEEDED, SEARCH_CANCELLED; of the store:
   * STORE_UNAVAILABLE and STORE_OVERLOADED (both retryable).
   */
  messages(request: MessagesRequest, options: SearchOptions): Promise<MessagesAnswer>;
  /** Rejects with SEARCH_AGGREGATE_INVALID, or as above. */
  aggregate(request: AggregateQuestion, options: SearchOptions): Promise<AggregateAnswer>;
  /**
   * All rows in order, of what is searchable when the first batch is taken and nothing that comes later; in batches, as
   * fast as they are taken. Whole or it rejects. The deadline is that of each batch.
   */
  rows(
    request: SearchQuestion & Pick<MessagesRequest, 'sort' | 'fields'> & { readonly limit?: number | undefined },
    options: SearchOptions,
  ): AsyncIterable<readonly SearchHit[]>;
  /**
   * Messages as they become searchable, oldest first, each once, until the signal. The first batch is empty: what
   * becomes searchable from then on is new.
   */
  tail(request: SearchQuestion, options: TailOptions): AsyncIterable<readonly SearchHit[]>;
  /** Undefined: not there, or not to be seen (the same answer). */
  message(index: string, id: string, scope: SearchScope): Promise<SearchHit | undefined>;
  /** Names and types of the fields that occur in messages of the scope. */
  fields(scope: SearchScope): Promise<FieldTypes>;
}

/** A stretch of a query text: UTF-16 offsets, `end` not included. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** Something in a text that can be read and will hardly find anything. */
export interface QueryWarning {
  /** `field`: no index has it. `value`: the field never holds such a value. */
  readonly kind: 'field' | 'value';
  readonly field: string;
  readonly span: TextSpan;
  readonly message: string;
}

export interface CheckedQuery {
  /** Why the text cannot be read: one sentence with the place. */
  readonly problem?: { readonly message: string; readonly span: TextSpan };
  /** True when `warnings` has something to look at: the text can be read and has clauses. */
  readonly hasClauses: boolean;
  /** `fields`: those that are known, with their types; none when they are not known at the moment. */
  warnings(fields: FieldTypes): readonly QueryWarning[];
}

/** Reads and writes query texts (`docs/search.md`), within the limits of the settings. */
export interface QueryLanguage {
  /** Throws the SEARCH_QUERY_ code of what is wrong, with its place. */
  parse(text: string): QueryNode;
  check(text: string): CheckedQuery;
  /** A text that parses to the same tree. */
  print(node: QueryNode): string;
  /** `field`, `field:asc` or `field:desc`, in any case. Throws SEARCH_SORT_ORDER at `place`. */
  sortOrder(text: string, place: string): SortOrder;
}

/** Reads a query text. Throws SEARCH_QUERY_* with the position of what is wrong. */
export type ReadQuery = (text: string) => QueryNode;

export type ExportFormat = 'csv' | 'json';

export interface ExportPiece {
  readonly text: string;
  readonly rows: number;
}

/** Turns rows into the text of a file, piece by piece. */
export interface RowExport {
  /** The fields that have to be read of each row; undefined: all. */
  fields(format: ExportFormat, fields: readonly string[] | undefined): readonly string[] | undefined;
  /**
   * `csv`: a header line before the first row, nothing at all without rows. `json`: one flat document a line, with
   * `_id` and `_index`.
   */
  text(
    rows: AsyncIterable<readonly SearchHit[]>,
    format: ExportFormat,
    fields: readonly string[] | undefined,
  ): AsyncIterable<ExportPiece>;
}
