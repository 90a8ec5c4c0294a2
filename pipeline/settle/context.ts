/** What the delivery of a batch needs, from a topic of messages or from a parking topic. */
import type { BuiltMetrics } from '../../core/metrics.js';
import type { Log } from '../../core/log.js';
import type { IndexStore } from '../../sinks/stores/contract.js';
import type { DeadLetterDeduplicator } from '../dead-letters/deduplicator.js';
import type { Ledger } from '../ledger/ledger.js';
import type { pipelineMetrics } from '../metrics.js';
import type { Blockages } from '../write/blockages.js';
import type { ParkingTopics } from '../parking/topics.js';
import type { RouteContext } from '../route/route.js';
import type { RuleSets } from '../ledger/rule-sets.js';
import type { SearchableProbe } from '../../sinks/stores/searchable-probe.js';
import type { TopicLog } from '../../topics/contract.js';
import type { Taps } from '../monitoring/taps.js';

export interface DeliverContext {
  readonly store: IndexStore;
  readonly topics: TopicLog;
  readonly ledger: Ledger;
  readonly ruleSets: RuleSets;
  readonly route: RouteContext;
  /** Reads the field types of indices that are new to this process, before documents are fitted to them. */
  readonly prepareIndex: (index: string) => Promise<void>;
  readonly repair: (index: string, document: string, reason: string) => string | undefined;
  readonly logsTopic: string;
  readonly deadLettersTopic: string;
  readonly metrics: BuiltMetrics<typeof pipelineMetrics>;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Told after each write how large an index is, where the store knows. */
  readonly onIndexBytes: (indexSet: string, index: string, bytes: number) => void;
  readonly searchable: SearchableProbe;
  /** Watchers of what is routed. */
  readonly taps?: Taps | undefined;
  readonly blockages: Blockages;
  readonly parkingTopics: ParkingTopics;
  readonly deadLetterDeduplicator: DeadLetterDeduplicator;
}
