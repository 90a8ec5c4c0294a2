/**
 * Passwords that were right a moment ago, so that a script with Basic authentication does not cost a hash for each
 * request.
 */
import { LRUCache } from 'lru-cache';
import { createHmac, randomBytes } from 'node:crypto';

/** Beyond it the oldest is verified again when it comes. */
const maxProofs = 2_000;

interface Proof {
  readonly userId: string;
  readonly generation: number;
  /** The directory that was asked, as it was set then; undefined for users that are kept here. */
  readonly directory?: object | undefined;
}

export interface Verified {
  /**
   * Which user this name and password proved, and at which generation. Only a hash of both is stored, under a random
   * key of this process.
   */
  find(nameKey: string, password: string): Proof | undefined;
  keep(nameKey: string, password: string, proof: Proof): void;
  /** One check at a time for the same name and password: others get its answer. */
  once<Result>(nameKey: string, password: string, check: () => Promise<Result>): Promise<Result>;
  clear(): void;
}

export function createVerified(lifetimeMs: number, now: () => number): Verified {
  const secret = randomBytes(32);
  const proofs = new LRUCache<string, Proof & { readonly until: number }>({ max: maxProofs });
  const checking = new Map<string, Promise<unknown>>();
  const keyOf = (nameKey: string, password: string): string =>
    createHmac('sha256', secret).update(`${nameKey.length} ${nameKey} ${password}`).digest('base64');
  return {
    find(nameKey, password) {
      const key = keyOf(nameKey, password);
      const found = proofs.get(key);
      if (found !== undefined && found.until > now()) return found;
      proofs.delete(key);
      return undefined;
    },
    keep(nameKey, password, proof) {
      if (lifetimeMs === 0) return;
      proofs.set(keyOf(nameKey, password), { ...proof, until: now() + lifetimeMs });
    },
    once<Result>(nameKey: string, password: string, check: () => Promise<Result>) {
      const key = keyOf(nameKey, password);
      const running = checking.get(key) as Promise<Result> | undefined;
      if (running !== undefined) return running;
      const started = check().finally(() => checking.delete(key));
      checking.set(key, started);
      return started;
    },
    clear: () => proofs.clear(),
  };
}
