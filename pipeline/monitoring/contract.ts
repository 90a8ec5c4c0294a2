/** What people see of the running program: who sends how much, what happens to it, and what passes. */
import type { Problem } from '../../core/recent-problems.js';

export interface SenderAccount {
  readonly receiver: string;
  /** Without the port: a sender that connects anew is the same one. */
  readonly address: string;
  messages: number;
  bytes: number;
  /** Inputs that could not become a message. */
  refused: number;
  /** UDP messages dropped because the pipeline was full. */
  shed: number;
  /** Milliseconds since the epoch. */
  readonly firstSeen: number;
  lastSeen: number;
  /**
   * Receive time less the sender's own, in milliseconds, transport included; undefined while no message had a usable
   * time.
   */
  clockSkewMs: number | undefined;
}

/** Counts since the start; who wants rates asks twice. */
export interface Top {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly senders: readonly SenderAccount[];
  readonly streams: Readonly<Record<string, number>>;
  readonly rules: Readonly<Record<string, number>>;
}

/** Sums since the start, over all receivers and index sets. */
export interface Counts {
  readonly received: number;
  readonly refused: number;
  readonly shed: number;
  readonly appended: number;
  readonly stored: number;
  readonly dead_lettered: number;
}

/** What this process has counted and warned of. */
export interface Monitoring {
  top(): Promise<Top>;
  counts(): Promise<Counts>;
  /** Seconds; 0 when nothing waits. */
  oldestUnprocessed(): Promise<number>;
  problems(): readonly Problem[];
}

export type TapKind = 'receiver' | 'stream' | 'output';

export interface Tapped {
  /** JSON text: of a receiver as it was sent, of a stream as it is stored, of an output as it stands in its topic. */
  readonly text: string;
  readonly peer?: string;
  readonly id?: string;
}

/** Opens watchers. A watcher sees a sample when more passes than it reads. */
export interface TapOpener {
  /**
   * Calls back for what passes from now on; the returned function ends it. `skipped`: passed since the last call and
   * not shown.
   */
  open(kind: TapKind, name: string, onPassed: (tapped: Tapped, skipped: number) => void): () => void;
}
