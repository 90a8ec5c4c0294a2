/** A row of the contract: one request and the status that it gets. */
import type { Whole } from '../../whole.js';

interface RowOptions {
  /** Default: an administrator. */
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Names for values of the answer, by their places in it; `{name}` in later paths and bodies. */
  readonly keep?: Readonly<Record<string, string>>;
  /** Ask until the status is the wanted one. */
  readonly wait?: true;
}

/** [method, path, status, body, options]. */
export type ContractRow = readonly [method: string, path: string, status: number, body?: unknown, options?: RowOptions];
/** Between rows. */
export type Step = (world: Whole) => Promise<void>;
