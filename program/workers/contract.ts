/**
 * What a running program is, as one process or several, and what the primary process and its workers tell each other
 * over their channel.
 */
import type { HealthReport } from '../../api/contract.js';
import type { ControlHandler } from '../../api/control/contract.js';
import type { ControlForward } from '../../api/control/server.js';
import type { ToldError } from '../../core/process/told-error.js';
import type { Config } from '../../schemas/config/config.js';
import type { Roles } from '../sluice.js';

/**
 * The first message to a worker, its answer to `online`: it does not read settings itself, so that one that is started
 * again runs with the same ones.
 */
export interface WorkerStart {
  readonly type: 'start';
  /** 1, 2, ... */
  readonly index: number;
  readonly count: number;
  readonly config: Config;
  readonly roles: Roles;
  readonly logFile: string | undefined;
  readonly controlPath: string;
}

export type ToWorker = WorkerStart | { readonly type: 'stop'; readonly deadlineMs: number };

/** What the terminal shows of a running program. */
export interface ProgramFacts {
  readonly receivers: readonly {
    readonly name: string;
    readonly protocol: string;
    readonly host: string;
    readonly port: number;
    readonly tls: boolean;
  }[];
  readonly inflater: string;
  readonly stores: boolean;
  readonly maxTotalBytes: number | undefined;
  /** Of the users that the first start made: shown once, whatever else the terminal shows. */
  readonly firstPasswords?: readonly { readonly username: string; readonly password: string | undefined }[] | undefined;
  /** Where the API listens, in the process that serves it. */
  readonly api?: { readonly host: string; readonly port: number; readonly tls: boolean } | undefined;
}

/** What `sluice start` runs: one process, or a primary process and its workers. */
export interface RunningProgram {
  start(): Promise<ProgramFacts>;
  stop(deadlineMs: number): Promise<void>;
  /** Ends what it started at once. */
  kill(): void;
  ready(): Promise<HealthReport>;
  metricsText(): Promise<string>;
  readonly controlRoutes: Readonly<Record<string, ControlHandler>>;
  /** Who answers the other paths of the control socket. */
  readonly forward?: ControlForward;
}

export type FromWorker =
  /** It listens to its channel. */
  | { readonly type: 'online' }
  | { readonly type: 'ready'; readonly facts: ProgramFacts }
  /** It cannot start, or cannot go on; it ends after this. */
  | { readonly type: 'failed'; readonly error: ToldError };

/** Paths that a worker answers on its control socket beside those of every running program. */
export const workerPaths = { ready: '/worker/ready', metrics: '/worker/metrics' } as const;
