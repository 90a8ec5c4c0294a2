/** Receivers by the `type` of their settings. */
import type { Receiver } from '../receivers/contract.js';
import type { ReceiverKind } from '../receivers/define.js';
import { listenErrors } from '../receivers/listen/errors.js';
import type { ReceiverContext } from '../receivers/listen/context.js';
import type { ReceiverOptions } from '../schemas/config/receivers.js';
import { messageLimitOf } from '../schemas/receiver-kinds.js';

export interface Receivers {
  readonly kinds: readonly ReceiverKind[];
  create(options: ReceiverOptions, context: ReceiverContext): Receiver;
  /** Whether this worker of the program (1, 2, ...) listens for it. */
  runsInWorker(options: ReceiverOptions, worker: number): boolean;
  transportOf(type: string): 'tcp' | 'udp';
  /**
   * Bytes of the largest message that the receiver of this name takes today; that any takes, when there is no such
   * receiver any more.
   */
  largestMessage(configured: readonly ReceiverOptions[], name: string): number;
}

/** Where no receiver says more. */
const defaultMessageBytes = 8 * 2 ** 20;

export function createReceivers(kinds: readonly ReceiverKind[]): Receivers {
  const byType = new Map(kinds.map((kind) => [kind.type, kind]));
  const kindOf = (type: string): ReceiverKind => {
    const kind = byType.get(type);
    if (kind === undefined) throw listenErrors.create('RECEIVER_TYPE_UNKNOWN', { got: type });
    return kind;
  };
  const limitOf = (options: ReceiverOptions): number => messageLimitOf(kindOf(options.type), options);
  return {
    kinds,
    create: (options, context) => kindOf(options.type).create(options, context),
    runsInWorker: (options, worker) => worker === 1 || kindOf(options.type).runsInEveryWorker(options),
    transportOf: (type) => kindOf(type).transport,
    largestMessage(configured, name) {
      const named = configured.find((receiver) => receiver.name === name);
      return named === undefined ? Math.max(defaultMessageBytes, ...configured.map(limitOf)) : limitOf(named);
    },
  };
}
