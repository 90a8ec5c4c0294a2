/** Decodes the records of one span, runs the rules of its epoch over them, and groups the documents by concrete index. */
import { deadLetterSet } from '../../schemas/index-sets.js';
import type { FieldChanges, Routing, RuleSet } from '../../rules/contract.js';
import type { Decoder } from '../../gelf/contract.js';
import { isSluiceError, type SluiceError } from '../../core/errors.js';
import type { DeadLetter, LogDocument } from '../../schemas/messages.js';
import { pipelineErrors } from '../errors.js';
import type { Forwarder, Forwards } from '../forwarding/forward.js';
import type { Epoch } from '../delivery/records.js';
import type { ConsumedRecord } from '../../topics/contract.js';

/** Documents for one concrete index; arrays run parallel. */
export interface IndexBatch {
  readonly indexSet: string;
  readonly index: string;
  readonly ids: string[];
  readonly offsets: number[];
  readonly documents: string[];
  /** Places of the documents in the batch's records. */
  readonly places: number[];
  /** Receive time of the first document. */
  oldest: number;
}

export interface Unusable {
  readonly record: ConsumedRecord;
  readonly error: SluiceError;
}

export interface Routed {
  readonly byIndex: Map<string, IndexBatch>;
  readonly unusable: Unusable[];
  readonly streams: Map<string, number>;
  /** For the topics of outputs. */
  readonly forwards: Forwards;
  dropped: number;
}

export interface RouteContext {
  readonly decoder: Decoder;
  /** Makes a document fit its index and serialises it. */
  readonly coerce: (index: string, document: LogDocument) => string;
  /** The setting `timestamp` of a receiver. */
  readonly timestampOf: (receiver: string) => 'sender' | 'received';
  readonly forwarder?: Pick<Forwarder, 'laneOf' | 'deliver'> | undefined;
}

export const emptyRouted = (): Routed => ({
  byIndex: new Map(),
  unusable: [],
  streams: new Map(),
  forwards: new Map(),
  dropped: 0,
});

export interface Origin {
  readonly receiver: string;
  readonly peer: string;
}

/** Header `origin`: receiver and peer, joined by the last space (a receiver's name may hold spaces). */
export function parseOrigin(origin: string): Origin {
  const space = origin.lastIndexOf(' ');
  return space < 0
    ? { receiver: origin, peer: '' }
    : { receiver: origin.slice(0, space), peer: origin.slice(space + 1) };
}

function batchOf(routed: Routed, indexSet: string, index: string, record: ConsumedRecord): IndexBatch {
  let batch = routed.byIndex.get(index);
  if (batch === undefined) {
    batch = { indexSet, index, ids: [], offsets: [], documents: [], places: [], oldest: record.timestamp };
    routed.byIndex.set(index, batch);
  }
  return batch;
}

function add(batch: IndexBatch, record: ConsumedRecord, place: number, document: string): void {
  batch.ids.push(record.key);
  batch.offsets.push(record.offset);
  batch.documents.push(document);
  batch.places.push(place);
}

/** What messages of the same routing share, so that it is looked up once. */
interface Lane {
  readonly routing: Routing;
  readonly batches: readonly IndexBatch[];
  readonly outputs: readonly string[];
  messages: number;
}

function laneOf(
  lanes: Map<Routing, Lane>,
  routing: Routing,
  routed: Routed,
  epoch: Epoch,
  record: ConsumedRecord,
  outputs: readonly string[],
): Lane {
  const known = lanes.get(routing);
  if (known !== undefined) return known;
  const batches = routing.indexSets.map((indexSet) => batchOf(routed, indexSet, indexOf(epoch, indexSet), record));
  const opened: Lane = { routing, batches, outputs, messages: 0 };
  lanes.set(routing, opened);
  return opened;
}

/** Routes records[start..end) by one epoch; `skip` holds the places of resends. */
export function routeMessages(
  routed: Routed,
  records: readonly ConsumedRecord[],
  start: number,
  end: number,
  skip: ReadonlySet<number>,
  epoch: Epoch,
  rules: RuleSet,
  context: RouteContext,
): void {
  let originText = '';
  let origin = parseOrigin('');
  let timestamp = context.timestampOf('');
  const forwards = context.forwarder?.laneOf(rules);
  const changes: FieldChanges = { added: [], changed: [] };
  const ruleContext = { messageId: '', receiver: '', changes: forwards === undefined ? undefined : changes };
  const lanes = new Map<Routing, Lane>();
  let lane: Lane | undefined;
  for (let place = start; place < end; place += 1) {
    if (skip.has(place)) continue;
    const record = records[place] as ConsumedRecord;
    if (record.origin !== originText) {
      originText = record.origin;
      origin = parseOrigin(originText);
      timestamp = context.timestampOf(origin.receiver);
      ruleContext.receiver = origin.receiver;
    }
    const parsed = context.decoder.parse(record.value);
    if ('error' in parsed) {
      routed.unusable.push({ record, error: parsed.error });
      continue;
    }
    const document = context.decoder.toDocument(parsed, {
      receiver: origin.receiver,
      peer: origin.peer,
      receivedAt: record.timestamp,
      timestamp,
    });
    ruleContext.messageId = record.key;
    changes.added.length = 0;
    changes.changed.length = 0;
    const routing = rules.apply(document, ruleContext);
    if (routing.dropped) {
      routed.dropped += 1;
      continue;
    }
    document['rule_set_version'] = rules.version;
    document['streams'] = routing.streams;
    if (lane?.routing !== routing)
      lane = laneOf(lanes, routing, routed, epoch, record, forwards?.outputsOf(routing) ?? []);
    lane.messages += 1;
    if (lane.outputs.length > 0) forwards?.add(routed.forwards, lane.outputs, record, changes, document, parsed);
    for (const batch of lane.batches) add(batch, record, place, context.coerce(batch.index, document));
  }
  for (const { routing, messages } of lanes.values()) {
    for (const stream of routing.streams) routed.streams.set(stream, (routed.streams.get(stream) ?? 0) + messages);
  }
}

/** An epoch names an index for each set of its rules; a hole would lose messages silently. */
function indexOf(epoch: Epoch, indexSet: string): string {
  const index = epoch.indices[indexSet];
  if (index === undefined)
    throw pipelineErrors.create('PIPELINE_EPOCH_INCOMPLETE', {
      place: `epoch ${epoch.number}`,
      got: `no index for ${indexSet}`,
    });
  return index;
}

/** A dead letter as a document of its own index set. */
export function routeDeadLetters(
  routed: Routed,
  records: readonly ConsumedRecord[],
  start: number,
  end: number,
  skip: ReadonlySet<number>,
  epoch: Epoch,
  rules: RuleSet,
  context: RouteContext,
): void {
  const index = indexOf(epoch, deadLetterSet);
  for (let place = start; place < end; place += 1) {
    if (skip.has(place)) continue;
    const record = records[place] as ConsumedRecord;
    add(
      batchOf(routed, deadLetterSet, index, record),
      record,
      place,
      context.coerce(index, deadLetterDocument(record, rules.version)),
    );
  }
}

function deadLetterDocument(record: ConsumedRecord, version: string): LogDocument {
  const receiveTime = new Date(record.timestamp).toISOString();
  const { receiver, peer } = parseOrigin(record.origin);
  const deadLetter = parseDeadLetter(record.value);
  const own: LogDocument = {
    source: peer,
    message: '',
    timestamp: receiveTime,
    receive_time: receiveTime,
    receiver,
    peer_address: peer,
    rule_set_version: version,
    streams: [],
  };
  if (deadLetter === undefined)
    return { ...own, message: 'unreadable dead letter', raw_base64: record.value.toString('base64') };
  const { receive_time, reason, ...fields } = deadLetter;
  return { ...own, ...fields, message: reason, timestamp: receive_time, receive_time: receiveTime };
}

function parseDeadLetter(value: Buffer): DeadLetter | undefined {
  try {
    const parsed: unknown = JSON.parse(value.toString('utf8'));
    return typeof parsed === 'object' && parsed !== null && 'reason' in parsed && 'code' in parsed
      ? (parsed as DeadLetter)
      : undefined;
  } catch (error) {
    if (isSluiceError(error) || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
