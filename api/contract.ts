/**
 * What the API and the control socket are given: a small port for each subject. `program/api/` builds them from the
 * running program.
 */
import type { IndexRequests } from '../sinks/index-sets/contract.js';
import type { DeadLetters } from '../pipeline/dead-letters/contract.js';
import type { OutputStatus } from '../pipeline/forwarding/contract.js';
import type { RuleSet } from '../rules/contract.js';

export interface ApiAddress {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

export interface HealthReport {
  readonly ok: boolean;
  /** What was checked, and why it failed. */
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly reason: string }[];
}

/** The rules in force: streams, index sets and outputs. Undefined while they are not loaded yet. */
export type RulesInForce = () => RuleSet | undefined;

/** Whether this process can take and store messages. */
export interface Health {
  /** Whether messages can be appended to the topics at the moment. */
  writable(): { readonly ok: boolean; readonly reason: string };
  ready(): Promise<HealthReport>;
}

/** Indices as the store has them. A process without a store has none. */
export interface Indices {
  /** Indices of one set. */
  list(indexSet: string): Promise<readonly StoredIndex[]>;
  health(): Promise<{ readonly ok: boolean; readonly reason: string }>;
}

interface StoredIndex {
  readonly name: string;
  readonly open: boolean;
  readonly documents: number;
  readonly bytes: number;
}

/** What can be asked of index sets and dead letters in every process with the store. */
export interface Operations {
  readonly indexRequests: IndexRequests;
  readonly deadLetters: DeadLetters;
}

/** The role processor of this process; in one without it, nothing waits. */
export interface Processing {
  readonly isHere: boolean;
  /** Messages accepted and not yet stored. */
  lag(): Promise<number>;
  /** Brings its metrics up to date. */
  collect(): Promise<void>;
}

/** The role output of this process; one without it has no outputs. */
export interface RunningOutputs {
  status(): Promise<readonly OutputStatus[]>;
  /** Brings their metrics up to date. */
  collect(): Promise<void>;
}

/** Receivers of this process. */
export interface RunningReceivers {
  /** Whether this process has the role receiver. */
  readonly areHere: boolean;
  /** Those that take messages now, of the settings and of the API. */
  list(): readonly RunningReceiver[];
  /** For a receiver made through the API. */
  stateOf(id: string): ReceiverState | undefined;
}

interface RunningReceiver {
  readonly name: string;
  address(): ReceiverAddress;
}

interface ReceiverAddress {
  readonly protocol: string;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

interface ReceiverState {
  readonly state: 'STARTING' | 'RUNNING' | 'FAILED' | 'STOPPED';
  /** Why it failed. */
  readonly problem: string | undefined;
}
