/** Index sets as the rules define them. */

/** The index set of dead letters; no stream leads to it. */
export const deadLetterSet = 'sluice_dead_letters';

export type RotationSettings =
  | { readonly type: 'size'; readonly max_bytes: number }
  | { readonly type: 'count'; readonly max_documents: number }
  | { readonly type: 'time'; readonly period_ms: number };

export interface RetentionSettings {
  readonly type: 'delete' | 'close' | 'none';
  readonly max_indices: number | undefined;
  readonly max_total_bytes: number | undefined;
}

export interface IndexSetDefinition {
  /** `sluice_default`; also the prefix of its indices and the alias that reads them all. */
  readonly id: string;
  readonly title: string;
  readonly rotation: RotationSettings;
  readonly retention: RetentionSettings;
  readonly shards: number;
  readonly replicas: number;
  readonly refresh_interval_ms: number;
}
