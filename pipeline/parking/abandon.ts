/** Alarms about indices that take no writes, and how an operator gives one up. */
import { buildMetrics, type Registry } from '../../core/metrics.js';
import type { Log } from '../../core/log.js';
import type { IndexStore } from '../../sinks/stores/contract.js';
import type { Ledger } from '../ledger/ledger.js';
import type { BlockagesOptions } from '../write/blockages.js';
import type { Abandoned } from './contract.js';
import { parkingErrors } from './errors.js';
import { parkingMetrics } from './metrics.js';
import { pipelineEvents } from '../events.js';

export function createBlockedReport(registry: Registry, log: Log): BlockagesOptions['onBlocked'] {
  const metrics = buildMetrics(registry, parkingMetrics);
  return (index, { indexSet, code, reason }) => {
    const place = { index, index_set: indexSet, code, reason };
    if (code === 'STORE_INDEX_BLOCKED') return pipelineEvents.indexBlocked(log, place);
    metrics.parkingAlarms.inc({ index_set: indexSet });
    pipelineEvents.indexMissed(log, place, code === 'STORE_INDEX_CLOSED' ? 'closed' : 'missing', index);
  };
}

interface AbandonOptions {
  readonly ledger: Ledger;
  readonly store: IndexStore;
  readonly log: Log;
  readonly rotate: (indexSet: string) => Promise<boolean>;
}

/**
 * What is or will be bound for the index becomes a dead letter. For good: an index that comes back is not written any
 * more.
 */
export async function abandonIndex({ ledger, store, log, rotate }: AbandonOptions, index: string): Promise<Abandoned> {
  const found = await ledger.indexState(index);
  if (found === undefined || found.value.state === 'closed' || found.value.state === 'deleted')
    throw parkingErrors.create('PARKING_INDEX_UNKNOWN', { place: index });
  const { indexSet } = found.value;
  const info = (await store.indices.list(indexSet)).find(({ name }) => name === index);
  if (info?.open === true)
    throw parkingErrors.create('PARKING_INDEX_PRESENT', { place: index, got: `${info.documents} documents` });
  if (found.value.state !== 'abandoned')
    await ledger.writeIndexState(index, { ...found.value, state: 'abandoned' }, found.revision);
  await ledger.refresh();
  const rotated = ledger.latestEpoch()?.indices[indexSet] === index && (await rotate(indexSet));
  pipelineEvents.indexAbandoned(log, { index, index_set: indexSet, rotated });
  return { index, index_set: indexSet, rotated };
}
