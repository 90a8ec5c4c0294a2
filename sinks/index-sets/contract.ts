/** Index sets: what the program asks of them, and the ports they need from the delivery protocol and the store. */
import type { Registry } from '../../core/metrics.js';
import type { Log } from '../../core/log.js';
import type { IndexSetDefinition } from '../../schemas/index-sets.js';
import type { IndexStore } from '../stores/contract.js';

/** `abandoned`: missing, and an operator does not want to restore it; what is bound for it becomes a dead letter. */
type IndexPhase = 'open' | 'retiring' | 'closed' | 'deleted' | 'abandoned';

/**
 * Durable (rules 6 and 7 of the delivery protocol): the state of a concrete index. Never removed, so that no name is
 * used twice.
 */
export interface IndexState {
  readonly indexSet: string;
  readonly number: number;
  readonly state: IndexPhase;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** What becomes of it once every partition has passed it. */
  readonly action?: 'close' | 'delete';
  /** Opened again by somebody: retention leaves it alone and does not count it. */
  readonly reopened?: boolean;
  /**
   * Its set was deleted while messages were still written to it: deleted as soon as the newest epoch does not name it.
   */
  readonly unwanted?: boolean;
}

export interface StoredIndexState {
  readonly value: IndexState;
  /** For compare-and-set. */
  readonly revision: string;
}

/**
 * Which index each set writes to, and the states of all indices. Shared by all processes; each write is a
 * compare-and-set.
 */
export interface IndexLedger {
  /** Reads what other processes have appended. */
  refresh(): Promise<void>;
  /** Concrete index by index set, as of the newest epoch that this process has read. */
  currentIndices(): Readonly<Record<string, string>>;
  indexState(index: string): Promise<StoredIndexState | undefined>;
  /** By index name. */
  indexStates(): Promise<ReadonlyMap<string, StoredIndexState>>;
  /** False on a conflict. `expected`: the revision that was read; undefined for a new index. */
  writeIndexState(index: string, state: IndexState, expected: string | undefined): Promise<boolean>;
}

export interface IndexRotation {
  /** Starts the next index of a set, unless somebody else has replaced `current` already. Tells whether it did. */
  rotate(set: IndexSetDefinition, current: string): Promise<boolean>;
}

/** Whether no partition can write to the index any more. */
type IsPassed = (index: string, indexSet: string) => Promise<boolean>;

/** How far the partitions are (delivery protocol, rule 7). */
export interface IndexPassage {
  /** Reads all partitions once; the answer is good for any number of indices. */
  read(): Promise<IsPassed>;
}

export interface IndexSetsOptions {
  readonly ledger: IndexLedger;
  readonly rotation: IndexRotation;
  readonly passage: IndexPassage;
  readonly store: IndexStore;
  /** The sets of the newest rule set. */
  readonly sets: () => readonly IndexSetDefinition[];
  readonly rotationCheckMs: number;
  readonly retentionCheckMs: number;
  /** All indices together (embedded store); undefined: no cap. */
  readonly maxTotalBytes: number | undefined;
  /** Forget what is remembered of an index that is gone. */
  readonly forget: (index: string) => void;
  readonly registry: Registry;
  readonly log: Log;
  readonly now: () => number;
}

/** Keeps index sets in their limits. */
export interface IndexSets {
  start(): void;
  stop(): Promise<void>;
  /** A write has just made the index this large, what comes on top by itself included. */
  observe(indexSet: string, index: string, bytes: number): void;
  rotateNow(indexSet: string): Promise<boolean>;
  /** True when an index is near its limit, so that the next check should come soon. */
  checkRotation(): Promise<boolean>;
  checkRetention(): Promise<void>;
}

export interface IndexSummary {
  readonly name: string;
  readonly indexSet: string;
  /** What is written to now. */
  readonly current: boolean;
  /** `closing` and `deleting`: as soon as no partition can write to it any more. */
  readonly state: 'open' | 'closed' | 'closing' | 'deleting';
  readonly reopened: boolean;
  readonly documents: number;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/**
 * `overtaken`: somebody else began the next index at the same moment. `absent`: no epoch names an index of this set
 * yet, or any more.
 */
export type RotationOutcome = 'rotated' | 'overtaken' | 'absent';

/** What people ask of single indices: closed, opened again, deleted. */
export interface IndexRequests {
  /** Begins the next index of a set. */
  rotate(indexSet: string): Promise<RotationOutcome>;
  list(indexSets: readonly string[]): Promise<readonly IndexSummary[]>;
  /**
   * Rejects with PIPELINE_INDEX_IN_USE or PIPELINE_INDEX_UNKNOWN. Happens with the next retention that finds it passed.
   */
  retire(index: string, action: 'close' | 'delete'): Promise<void>;
  /** A closed index; retention leaves it alone from then on. */
  reopen(index: string): Promise<void>;
  /**
   * All indices of a set that is in no rules any more. What processors have not left yet is retired as soon as they
   * have.
   */
  retireAll(indexSet: string): Promise<void>;
  /** Whether processors have yet to leave the indices of a set that was deleted together with them. */
  leaving(indexSet: string): Promise<boolean>;
}
