/** Routes a batch span by span, each by its epoch, in turns short enough for the receivers of the same process. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { at } from '../../core/at.js';
import type { ConsumedBatch, ConsumedRecord } from '../../topics/contract.js';
import type { Span } from '../delivery/records.js';
import { routerOf, type EpochContext } from '../route/by-epoch.js';
import { emptyRouted, type Routed } from '../route/routed.js';

/** Routing a whole batch would hold the event loop for fifty milliseconds, and large documents for longer. */
const recordsInSlice = 128;
const bytesInSlice = 64 * 1024;
const turnMs = 5;

/** `skip`: positions in the batch that are not routed. */
export async function routeBatch(
  context: EpochContext,
  { topic, records }: ConsumedBatch,
  spans: readonly Span[],
  skip: ReadonlySet<number>,
): Promise<Routed> {
  const routed = emptyRouted();
  let start = 0;
  let began = performance.now();
  for (const span of spans) {
    const router = await routerOf(context, topic, span.epoch, routed);
    let end = start;
    while (end < records.length && at(records, end).offset < span.to) end += 1;
    for (let from = start, to = start; from < end; from = to) {
      if (performance.now() - began > turnMs) {
        await nextTurn();
        began = performance.now();
      }
      to = endOfSlice(records, from, Math.min(end, from + recordsInSlice));
      router.route(records, from, to, skip);
    }
    start = end;
  }
  return routed;
}

/** At least one record. */
function endOfSlice(records: readonly ConsumedRecord[], from: number, most: number): number {
  let to = from;
  for (let bytes = 0; to < most && (to === from || bytes < bytesInSlice); to += 1)
    bytes += at(records, to).value.length;
  return to;
}
