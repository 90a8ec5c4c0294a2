/**
 * Input that is refused costs time that other senders wait for: parsing, and a dead letter for each. Who sends it is
 * read the more slowly the more of that time was spent on its address, so that all of it together takes a tenth of one
 * core. Nothing is dropped: the sender is held back by TCP.
 */

/** An address is left unread for this many times what its refused input has cost. */
const factor = 9;
/** Longest wait for one connection; a sender that has been corrected is not punished for long. */
const maxPauseMs = 2_000;
/** Estimates of what a dead letter costs behind the receiver: for itself, and for each byte of it. */
const letterMs = 0.02;
const letterByteMs = 2e-5;
const keptBytes = 64 * 1024;
/** Addresses remembered; past that the one that was added first gives way. */
const maxAddresses = 10_000;

export interface RefusalThrottle {
  /**
   * Charges an address for refused input. Returns until when (`performance.now()`) the connection that it came from is
   * not read.
   */
  charge(address: string, spentMs: number, refusals: number, refusedBytes: number): number;
  /** Whether the address is being held back. */
  holds(address: string): boolean;
}

export function createRefusalThrottle(now: () => number = () => performance.now()): RefusalThrottle {
  const freeAt = new Map<string, number>();
  return {
    charge(address, spentMs, refusals, refusedBytes) {
      const time = now();
      const cost = spentMs + refusals * letterMs + Math.min(refusedBytes, refusals * keptBytes) * letterByteMs;
      const until = Math.max(time, freeAt.get(address) ?? 0) + factor * cost;
      freeAt.delete(address);
      if (freeAt.size >= maxAddresses) freeAt.delete(freeAt.keys().next().value as string);
      freeAt.set(address, Math.min(until, time + maxPauseMs));
      return Math.min(until, time + maxPauseMs);
    },
    holds: (address) => (freeAt.get(address) ?? 0) > now(),
  };
}
