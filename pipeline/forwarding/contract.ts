/** What people see of the outputs of this process. */
import type { OutputState } from '../../sinks/outputs/contract.js';

export interface OutputStatus extends Omit<OutputState, 'state'> {
  /** `paused`: the settings say that it takes and sends nothing; what waited goes on waiting. */
  readonly state: OutputState['state'] | 'paused';
  readonly id: string;
  readonly title: string;
  readonly type: string;
  readonly protocol: string;
  readonly enabled: boolean;
  /** Messages in the topic that are not confirmed. */
  readonly lag: number;
  /** Receive time of the oldest message that is not confirmed, ISO 8601. */
  readonly oldest: string | undefined;
  /** Since this worker started. */
  readonly sent: number;
  readonly failed: number;
  readonly dropped: number;
}
