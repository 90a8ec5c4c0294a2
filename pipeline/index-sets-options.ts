/** What rotation and retention are given. */
import type { Registry } from '../core/metrics.js';
import type { Log } from '../core/log.js';
import type { IndexSetDefinition } from '../rules/contract.js';
import type { IndexStore } from '../sinks/stores/contract.js';
import type { Epochs } from './epochs.js';
import type { Ledger } from './ledger.js';
import type { TopicLog } from '../topics/contract.js';

export interface IndexSetsOptions {
  readonly ledger: Ledger;
  readonly epochs: Epochs;
  readonly store: IndexStore;
  readonly topics: TopicLog;
  readonly group: string;
  readonly consumedTopics: readonly string[];
  readonly deadLettersTopic: string;
  /** The sets of the newest rule set. */
  readonly sets: () => readonly IndexSetDefinition[];
  readonly rotationCheckMs: number;
  readonly retentionCheckMs: number;
  /** All indices together (embedded store); undefined: no cap. */
  readonly maxTotalBytes: number | undefined;
  /** Whether messages parked for the set wait to be drained. */
  readonly parkedLeft: (indexSet: string) => Promise<boolean>;
  /** Forget what is remembered of an index that is gone. */
  readonly forget: (index: string) => void;
  readonly registry: Registry;
  readonly log: Log;
  readonly now: () => number;
}
