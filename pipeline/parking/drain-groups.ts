/** The messages of a batch of a parking topic, by the partition and the index that they were parked for. */
import { at } from '../../core/at.js';
import type { ConsumedRecord } from '../../topics/contract.js';
import type { IndexBatch } from '../index-batch.js';
import { routerOf, type EpochContext } from '../route/by-epoch.js';
import { emptyRouted } from '../route/routed.js';
import { unparkedRecord, type ParkedHeader } from './envelope.js';

/** Messages of one partition for one index, by their own offset. */
export interface ParkedGroup {
  /** Of the first message. */
  readonly header: ParkedHeader;
  readonly records: ConsumedRecord[];
  /** Epoch of each record. */
  readonly epochs: number[];
}

/**
 * Groups in the order of their first messages. Where messages stand in the topic again, another group begins: the store
 * knows them.
 */
export function groupParked(records: readonly ConsumedRecord[]): {
  readonly groups: readonly ParkedGroup[];
  /** Records that Sluice did not write. */
  readonly foreign: readonly ConsumedRecord[];
} {
  const groups: ParkedGroup[] = [];
  const foreign: ConsumedRecord[] = [];
  const open = new Map<string, ParkedGroup>();
  for (const parked of records) {
    const unparked = unparkedRecord(parked);
    if (unparked === undefined) {
      foreign.push(parked);
      continue;
    }
    const { header, record } = unparked;
    const key = `${header.topic}/${header.generation}/${header.partition}/${header.index}`;
    let group = open.get(key);
    if (group === undefined || record.offset <= (group.records.at(-1)?.offset ?? -1)) {
      group = { header, records: [], epochs: [] };
      open.set(key, group);
      groups.push(group);
    }
    group.records.push(record);
    group.epochs.push(header.epoch);
  }
  return { groups, foreign };
}

/** The documents of the group for its index; those of other indices were stored when the messages were parked. */
export async function routeGroup(
  context: EpochContext,
  indexSet: string,
  { header, records, epochs }: ParkedGroup,
): Promise<IndexBatch> {
  const routed = emptyRouted();
  for (let start = 0, end = 0; start < records.length; start = end) {
    while (end < records.length && epochs[end] === epochs[start]) end += 1;
    const router = await routerOf(context, header.topic, at(epochs, start), routed);
    router.route(records, start, end, none);
  }
  return routed.byIndex.get(header.index) ?? allDocuments([], indexSet, header.index);
}

const none: ReadonlySet<number> = new Set();

/** A batch that stands for all of these records; its documents are not made. */
export function allDocuments(records: readonly ConsumedRecord[], indexSet: string, index: string): IndexBatch {
  return {
    indexSet,
    index,
    ids: records.map(({ key }) => key),
    offsets: records.map(({ offset }) => offset),
    documents: [],
    recordPositions: records.map((_, at) => at),
    oldest: 0,
  };
}
