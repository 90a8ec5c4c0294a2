/** Which indices do not take writes, since when, and whether it is time to park what is bound for them. */

/**
 * While every index that is tried is blocked, a whole store is (its flood stage): parking would only move the pile, so
 * it waits this many times as long.
 */
const wholeStorePatience = 10;

export interface Blockage {
  readonly indexSet: string;
  /** The first failure since the last success, milliseconds since the epoch. */
  readonly since: number;
  readonly lastAt: number;
  readonly code: string;
  readonly reason: string;
}

export interface Blockages {
  succeeded(index: string): void;
  /** Whether what is bound for the index should be parked now. */
  failed(index: string, indexSet: string, code: string, reason: string): boolean;
  /** The index has been retired or given up: nothing waits for it any more. */
  forget(index: string): void;
  /**
   * Somebody has stored something of the set at this time, perhaps in another process: what failed here before is
   * history.
   */
  moved(indexSet: string, at: number): void;
  /** By index. */
  all(): ReadonlyMap<string, Blockage>;
  of(indexSet: string): (Blockage & { readonly index: string }) | undefined;
}

export interface BlockagesOptions {
  readonly parkAfterMs: number;
  readonly now: () => number;
  /** An index begins to be blocked. */
  readonly onBlocked: (index: string, blockage: Blockage) => void;
}

export function createBlockages({ parkAfterMs, now, onBlocked }: BlockagesOptions): Blockages {
  const blocked = new Map<string, Blockage>();
  let lastSuccess = -Infinity;
  return {
    succeeded(index) {
      lastSuccess = now();
      blocked.delete(index);
    },
    failed(index, indexSet, code, reason) {
      const known = blocked.get(index);
      const blockage = { indexSet, since: known?.since ?? now(), lastAt: now(), code, reason };
      blocked.set(index, blockage);
      if (known?.code !== code) onBlocked(index, blockage);
      const others = [...blocked.values()].some((other) => other.indexSet !== indexSet);
      const wholeStore = others && lastSuccess <= blockage.since;
      return now() >= blockage.since + parkAfterMs * (wholeStore ? wholeStorePatience : 1);
    },
    forget: (index) => void blocked.delete(index),
    moved(indexSet, at) {
      for (const [index, blockage] of blocked)
        if (blockage.indexSet === indexSet && blockage.lastAt < at) blocked.delete(index);
    },
    all: () => blocked,
    of(indexSet) {
      for (const [index, blockage] of blocked) if (blockage.indexSet === indexSet) return { index, ...blockage };
      return undefined;
    },
  };
}
