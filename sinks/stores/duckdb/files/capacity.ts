/**
 * How much the engine may do at once within its memory. One that runs out of it in the middle of a commit has been seen
 * to damage the heap of the process (1.5.6: wild pointers in its checkpoints, within seconds), so what it holds on to
 * at once is bounded beforehand.
 */

/**
 * One block for each column (256 KiB times `maxColumns`), held by an open transaction and by each thread of a
 * checkpoint, and as much again for what compression takes.
 */
const bytesOfOne = 128 * 2 ** 20;
/** More than these wait for the disk and for each other. */
const mostTransactions = 4;

interface Capacity {
  /** Writes, checkpoints and detachments at once. */
  readonly transactions: number;
  readonly threads: number;
}

export function capacityOf(memoryBytes: number, wantedThreads: number): Capacity {
  const places = Math.max(2, Math.floor(memoryBytes / bytesOfOne));
  const transactions = Math.max(1, Math.min(mostTransactions, Math.floor(places / 3)));
  return { transactions, threads: Math.max(1, Math.min(wantedThreads, places - transactions)) };
}
