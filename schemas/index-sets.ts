/** What an index set says about its indices. */
export type RotationSettings =
  | { readonly type: 'size'; readonly max_bytes: number }
  | { readonly type: 'count'; readonly max_documents: number }
  | { readonly type: 'time'; readonly period_ms: number };

export interface RetentionSettings {
  readonly type: 'delete' | 'close' | 'none';
  readonly max_indices: number | undefined;
  readonly max_total_bytes: number | undefined;
}
