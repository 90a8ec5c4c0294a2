import type { Log } from '../../core/log.js';
import type { Link } from './contract.js';

export interface SenderOptions {
  readonly link: Link;
  readonly confirmAfterMs: number;
  readonly unconfirmedBytes: number;
  readonly idleTimeoutMs: number;
  readonly retryMostMs: number;
  readonly log: Log;
  readonly onConfirmed: (nextOffset: number, messages: number, refused: number) => void;
  /** A connection attempt or a connection failed. */
  readonly onFailed: () => void;
  /** It cannot go on with these settings. */
  readonly onStopped: (error: Error) => void;
}
