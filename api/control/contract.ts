/** What the control socket is given, and how its resources are written. */
import type { AccessAdministration } from '../../access/contract.js';
import type { Log } from '../../core/log.js';
import type { Monitoring, TapOpener } from '../../pipeline/monitoring/contract.js';
import type { RuleSet } from '../../rules/contract.js';
import type { ReadQuery, RowExport, Searcher } from '../../search/contract.js';
import type { Health, Indices, Operations, RulesInForce, RunningOutputs, RunningReceivers } from '../contract.js';
import type { AuditMessage } from '../http/audit/audit-trail.js';

/** Answers one request: returns the JSON answer, or writes lines itself through `line` and returns undefined. */
export type ControlHandler = (
  body: unknown,
  context: { readonly signal: AbortSignal; readonly line: (value: unknown) => Promise<void> },
) => Promise<unknown>;

/** By `METHOD /path`. */
export type ControlRoutes = Readonly<Record<string, ControlHandler>>;

/** What the store holds, for the verifier too. */
export interface ControlIndices extends Pick<Indices, 'list'> {
  /** Ids of all documents of these indices. */
  scanIds(indices: readonly string[], onIds: (ids: readonly string[]) => Promise<void>): Promise<void>;
  /** Makes searchable what is stored. */
  refresh(indices: readonly string[]): Promise<void>;
}

/** The role processor, as an operator sees it. */
export interface ControlProcessing {
  /** Brings its metrics up to date. */
  collect(): Promise<void>;
  rules(): RuleSet | undefined;
  /** The newest one, as it stands in the state. */
  epoch(): object | undefined;
  /** Partitions of topics that this process works on, as `topic/partition`. */
  partitions(): readonly string[];
  lag(): Promise<number>;
  /** Index sets whose messages are parked. */
  parked(): Promise<readonly object[]>;
  abandonIndex(index: string): Promise<unknown>;
  /** Applies retention now. */
  checkRetention(): Promise<void>;
}

export interface ControlPorts {
  readonly rules: RulesInForce;
  readonly health: Pick<Health, 'ready'>;
  /** Undefined in a process without the store. */
  readonly searcher: Searcher | undefined;
  readonly indices: ControlIndices | undefined;
  /** Reads queries for dead letters. The limits that the settings have for searches do not count here. */
  readonly deadLetterQuery: ReadQuery;
  readonly rowExport: RowExport;
  /** Undefined without the store, and while the process starts. */
  readonly operations: () => Operations | undefined;
  /** Undefined without the role processor, and while the process starts. */
  readonly processing: () => ControlProcessing | undefined;
  readonly receivers: Pick<RunningReceivers, 'list'>;
  readonly outputs: Pick<RunningOutputs, 'status'>;
  readonly monitoring: Monitoring;
  readonly taps: TapOpener;
  /** Where the process listens for its metrics; undefined: it does not. */
  readonly adminPort: () => number | undefined;
}

/** Users and roles, changed by the operator of the machine. */
export interface UserAdministrationPort {
  /** Access is built for this one piece of work, and ended after it. */
  withAccess<Result>(run: (access: AccessAdministration) => Promise<Result>): Promise<Result>;
  /** Resolves when the audit record is durable; false: this process writes none. */
  record(message: AuditMessage): Promise<boolean>;
  /** Users that the first start makes. */
  readonly shippedUsers: readonly { readonly username: string; readonly roles: readonly string[] }[];
  randomPassword(): string;
  readonly log: Log;
}
