/** What `sluice start` runs: one process, or a primary process and its workers. */
import type { HealthReport } from '../api/admin.js';
import type { ControlForward, ControlHandler } from '../api/control.js';
import type { ProgramFacts } from '../workers/contract.js';

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
