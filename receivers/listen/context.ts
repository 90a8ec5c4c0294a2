/** What every receiver is given. */
import type { Log } from '../../core/log.js';
import type { Registry } from '../../core/metrics.js';
import type { MessageSink } from '../../schemas/messages.js';
import type { MessageChecker } from '../contract.js';
import type { Inflater } from '../inflate/contract.js';

export interface ReceiverContext {
  readonly sink: MessageSink;
  readonly log: Log;
  readonly registry: Registry;
  readonly checker: MessageChecker;
  readonly inflater: Inflater;
  /** Other processes of this program listen on the same ports. */
  readonly sharesPorts?: boolean | undefined;
  /** Milliseconds since the epoch; the system clock when absent. */
  readonly now?: (() => number) | undefined;
}
