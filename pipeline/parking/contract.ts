/** What an operator sees and does of index sets that take no writes. */

export interface ParkedSet {
  readonly index_set: string;
  /** `blocked`: an index takes no writes. `draining`: what is parked is being stored. */
  readonly state: 'blocked' | 'draining' | 'drained';
  readonly messages: number;
  readonly bytes: number;
  readonly oldest_age_seconds: number;
  readonly index?: string;
  readonly code?: string;
  readonly reason?: string;
  readonly blocked_since?: string;
}

export interface Abandoned {
  readonly index: string;
  readonly index_set: string;
  /** The set writes to its next index now. */
  readonly rotated: boolean;
}
