/**
 * What Sluice itself remembers: epochs, partition records, index marks, and what users create. Small values,
 * revision-checked.
 */

export interface StateEntry {
  readonly key: string;
  readonly value: unknown;
  /** Opaque; changes with every put. */
  readonly revision: string;
}

export interface StateStore {
  start(): Promise<void>;
  stop(deadlineMs: number): Promise<void>;
  get(key: string): Promise<StateEntry | undefined>;
  /**
   * Compare-and-set: `expected` is the revision that was read, or undefined when the key must not exist. Rejects with
   * STATE_CONFLICT. Durable when it resolves.
   */
  put(key: string, value: unknown, expected: string | undefined): Promise<StateEntry>;
  /** All entries whose key starts with the prefix, by key. Sees every put that resolved before. */
  list(prefix: string): Promise<readonly StateEntry[]>;
  /** Rejects with STATE_CONFLICT when the revision is another one. */
  delete(key: string, expected: string): Promise<void>;
  /**
   * Calls back after a change under the prefix, own changes included, within about a second; returns a stop function.
   */
  watch(prefix: string, onChange: () => void): () => void;
}
