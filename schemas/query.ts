/**
 * A parsed query text, as both stores execute it, with equal results.
 *
 * Matching rules that both stores and the reference evaluation (`search/reference/evaluate.ts`) follow:
 * - Text fields (`message`, `full_message`) are matched by words (`schemas/words.ts`): a `term` on them is the phrase
 *   of its
 *   words; `wildcard`, `prefix` and `regex` are matched against single lower-cased words.
 * - Every other field is matched as a whole value, case-sensitive: strings by equality, numbers by numeric equality
 *   when the
 *   term reads as a number, booleans by `true` and `false`. `source` is matched in any case.
 * - A `term` or `phrase` without a field looks into `message`, `full_message` and `source`.
 * - A range with numeric ends matches numbers only, one on `timestamp` or `receive_time` compares times, any other
 *   range
 *   compares strings by code point.
 * - A field that is missing never matches, except under `not`. Aliases (`container`/`container_name`, `pod`/`pod_name`,
 *   `namespace`/`namespace_name`, `host`/`hostname`) have been expanded to `or` by the parser.
 */
export type QueryNode =
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }
  | { readonly kind: 'and'; readonly children: readonly QueryNode[] }
  | { readonly kind: 'or'; readonly children: readonly QueryNode[] }
  | { readonly kind: 'not'; readonly child: QueryNode }
  | { readonly kind: 'term'; readonly field: string | undefined; readonly text: string }
  | { readonly kind: 'phrase'; readonly field: string | undefined; readonly text: string }
  /** `*` any run, `?` one character; other characters literal. */
  | { readonly kind: 'wildcard'; readonly field: string | undefined; readonly pattern: string }
  /** RE2 syntax, anchored at both ends. */
  | { readonly kind: 'regex'; readonly field: string | undefined; readonly pattern: string }
  | {
      readonly kind: 'range';
      readonly field: string;
      readonly from: RangeEnd | undefined;
      readonly to: RangeEnd | undefined;
    }
  | { readonly kind: 'exists'; readonly field: string };

export interface RangeEnd {
  readonly value: string | number;
  readonly inclusive: boolean;
}

export interface SearchRequest {
  /** Concrete indices, any order; a missing or closed one is skipped and named in the result. */
  readonly indices: readonly string[];
  readonly query: QueryNode;
  /** Half-open range of `timestamp` in milliseconds: from <= t < to. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly limit: number;
  /**
   * Default true. False: `total` is no more than the number of hits, and the store looks at no more documents than it
   * finds them with.
   */
  readonly count?: boolean | undefined;
  /** Default: timestamp descending. Equal values are ordered by `_id` in the same direction. */
  readonly sort?: { readonly field: string; readonly direction: 'asc' | 'desc' } | undefined;
  /** Only these fields are returned (all when undefined); `_id` and `_index` always. */
  readonly fields?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For paging: only documents strictly after this one in the sort order. */
  readonly after?: SearchAfter | undefined;
  /** Indices that fail are named in `failures` and the others answer; otherwise the whole search rejects. */
  readonly partial?: boolean | undefined;
  /** Milliseconds after which the store gives up; default: the store's own limit. */
  readonly timeoutMs?: number | undefined;
}

/**
 * A place in the order: by the sort value (numbers, then texts, then documents without the field: null), the id, the
 * index.
 */
export interface SearchAfter {
  readonly sortValue: string | number | null;
  readonly id: string;
  /** Without it: after every document of this value and id. */
  readonly index?: string | undefined;
}

export interface IndexFailure {
  readonly index: string;
  readonly reason: string;
}

export interface SearchHit {
  readonly _id: string;
  readonly _index: string;
  readonly document: Readonly<Record<string, unknown>>;
}

export interface SearchResult {
  readonly total: number;
  readonly hits: readonly SearchHit[];
  readonly skipped: readonly string[];
  /** Place of the last hit; undefined without hits. */
  readonly next?: SearchAfter | undefined;
  readonly failures?: readonly IndexFailure[] | undefined;
}

/** Every document in order, of what is searchable at the first page. */
export type ScanRequest = Pick<
  SearchRequest,
  'indices' | 'query' | 'from' | 'to' | 'sort' | 'fields' | 'signal' | 'timeoutMs'
>;

export type BucketInterval = {
  readonly unit: 'millisecond' | 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year';
  readonly count: number;
};

export interface Grouping {
  readonly kind: 'values' | 'time';
  readonly field: string;
  /** `values`: the most frequent ones; 15 by default. */
  readonly limit?: number | undefined;
  /** `values`: of these keys only. */
  readonly only?: readonly string[] | undefined;
  /**
   * `time`: width of a bucket; buckets begin at whole multiples in UTC (weeks on Mondays, from 5 January 1970 on);
   * months by 1 or 3, years by 1.
   */
  readonly interval?: BucketInterval | undefined;
}

/**
 * `count` without a field counts documents, with one the documents that have it. The others look at numbers (and times,
 * as milliseconds) only, `cardinality` at every value. `percentile` needs `percentile` between 0 and 100 and is the
 * smallest value that so many percent of the values do not exceed (nearest rank). `variance` and `deviation` are those
 * of the whole population, null where they are beyond the largest number.
 */
export interface Metric {
  readonly kind:
    | 'count'
    | 'cardinality'
    | 'min'
    | 'max'
    | 'sum'
    | 'average'
    | 'percentile'
    | 'sum_of_squares'
    | 'variance'
    | 'deviation';
  readonly field?: string | undefined;
  readonly percentile?: number | undefined;
}

export interface AggregateRequest {
  readonly indices: readonly string[];
  readonly query: QueryNode;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Outer ones first; none: one bucket of all. */
  readonly groups: readonly Grouping[];
  readonly metrics: readonly Metric[];
  /** Order of `values` buckets: by a metric's place or by key; default: documents descending, then key ascending. */
  readonly sort?: { readonly by: number | 'key'; readonly direction: 'asc' | 'desc' } | undefined;
  /** The metrics of all documents together too. */
  readonly whole?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** As of a search. */
  readonly partial?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
}

/** Most buckets of one answer; more are an error. */
export const maxBuckets = 20_000;
/** Of a grouping by values without a limit. */
export const defaultBucketLimit = 15;

/**
 * Only buckets with documents. Each member of a list counts in a bucket of its own; keys of `source` are in small
 * letters.
 */
export interface Bucket {
  /** One per grouping; time keys are milliseconds since the epoch. */
  readonly key: readonly (string | number | boolean)[];
  readonly documents: number;
  /** One per metric; null where no document has the field. */
  readonly values: readonly (number | null)[];
}

export interface AggregateResult {
  /** All documents that match. */
  readonly total: number;
  readonly buckets: readonly Bucket[];
  /** Where it was asked for: all documents that match, as one bucket. */
  readonly whole?: Bucket | undefined;
  /** Documents in buckets that `limit` did not let through, summed over the groupings. */
  readonly otherDocuments: number;
  readonly skipped: readonly string[];
  readonly failures?: readonly IndexFailure[] | undefined;
}
