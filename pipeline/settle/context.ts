/**
 * What bringing messages into their indices needs, whether they come from a topic, a parking topic or a dead letter.
 */
import type { Log } from '../../core/log.js';
import type { BuiltMetrics } from '../../core/metrics.js';
import type { IndexStore } from '../../sinks/stores/contract.js';
import type { TopicLog } from '../../topics/contract.js';
import type { pipelineMetrics } from '../metrics.js';
import type { EpochContext } from '../route/by-epoch.js';
import type { Blockages } from '../write/blockages.js';
import type { IndexFate, WriteContext } from '../write/write-index-batch.js';

interface SearchableProbe {
  stored(indexSet: string, index: string, id: string, receivedAt: number): void;
}

export interface DeliveryContext extends EpochContext {
  readonly store: IndexStore;
  readonly topics: TopicLog;
  readonly repair: WriteContext['repair'];
  readonly metrics: BuiltMetrics<typeof pipelineMetrics>;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Told after each write how large an index is, where the store knows. */
  readonly onIndexBytes: (indexSet: string, index: string, bytes: number) => void;
  /** Measures how long it takes until a search finds what was stored. */
  readonly searchable: SearchableProbe;
  readonly blockages: Blockages;
}

type OfEveryBatch = 'documents' | 'signal' | 'log' | 'repair' | 'fate' | 'onRetry' | 'blockages';

/** The part of a write's context that does not depend on the batch. */
export function writeContext(context: DeliveryContext): Pick<WriteContext, OfEveryBatch> {
  const { store, signal, log, repair, blockages, metrics } = context;
  return {
    documents: store.documents,
    signal,
    log,
    repair,
    blockages,
    fate: (index) => fateOf(context, index),
    onRetry: (indexSet, code) => metrics.storeRetries.inc({ index_set: indexSet, code }),
  };
}

async function fateOf({ ledger }: Pick<DeliveryContext, 'ledger'>, index: string): Promise<IndexFate> {
  const found = (await ledger.indexState(index))?.value;
  switch (found?.state) {
    case 'abandoned':
      return 'abandoned';
    case 'closed':
    case 'deleted':
      return 'retired';
    case 'retiring':
      return found.action === 'delete' ? 'retired' : undefined;
    default:
      return undefined;
  }
}
