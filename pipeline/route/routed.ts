/** What becomes of the records of a batch: documents by index, records for outputs, and what could not be used. */
import type { SluiceError } from '../../core/errors.js';
import type { Decoder } from '../../gelf/contract.js';
import type { LogDocument } from '../../schemas/messages.js';
import type { ConsumedRecord } from '../../topics/contract.js';
import type { Epoch } from '../delivery/records.js';
import { pipelineErrors } from '../errors.js';
import type { Forwarder, Forwards } from '../forwarding/forward.js';
import type { IndexBatch } from '../index-batch.js';
import type { TimestampOf } from '../origin.js';

interface Unusable {
  readonly record: ConsumedRecord;
  readonly error: SluiceError;
}

export interface Routed {
  readonly byIndex: Map<string, IndexBatch>;
  readonly unusable: Unusable[];
  /** Messages by stream. */
  readonly streams: Map<string, number>;
  readonly forwards: Forwards;
  /** Messages that a rule dropped. */
  dropped: number;
}

export interface RouteContext {
  readonly decoder: Decoder;
  /** Makes a document fit its index and serialises it. */
  readonly coerce: (index: string, document: LogDocument) => string;
  readonly timestampOf: TimestampOf;
  readonly forwarder?: Pick<Forwarder, 'collectorOf' | 'deliver'> | undefined;
}

/** Routes records by one epoch into a `Routed`. */
export interface Router {
  /** Routes records[start..end) but those at the positions in `skip`. */
  route(records: readonly ConsumedRecord[], start: number, end: number, skip: ReadonlySet<number>): void;
}

export const emptyRouted = (): Routed => ({
  byIndex: new Map(),
  unusable: [],
  streams: new Map(),
  forwards: new Map(),
  dropped: 0,
});

/** An epoch names an index for each set of its rules; a hole would lose messages silently. */
export function indexOf(epoch: Epoch, indexSet: string): string {
  const index = epoch.indices[indexSet];
  if (index === undefined)
    throw pipelineErrors.create('PIPELINE_EPOCH_INCOMPLETE', {
      place: `epoch ${epoch.number}`,
      got: `no index for ${indexSet}`,
    });
  return index;
}

/** The batch of the set's index in this epoch; `first` is the first record for it. */
export function batchOf(routed: Routed, epoch: Epoch, indexSet: string, first: ConsumedRecord): IndexBatch {
  const index = indexOf(epoch, indexSet);
  let batch = routed.byIndex.get(index);
  if (batch === undefined) {
    batch = { indexSet, index, ids: [], offsets: [], documents: [], recordPositions: [], oldest: first.timestamp };
    routed.byIndex.set(index, batch);
  }
  return batch;
}

export function addDocument(batch: IndexBatch, record: ConsumedRecord, position: number, document: string): void {
  batch.ids.push(record.key);
  batch.offsets.push(record.offset);
  batch.documents.push(document);
  batch.recordPositions.push(position);
}
