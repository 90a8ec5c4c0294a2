/** Makes a document of each record of the topic of the dead letters, for their own index set. No rule is asked. */
import { at } from '../../core/at.js';
import type { LogDocument, DeadLetter } from '../../schemas/messages.js';
import { deadLetterSet } from '../../schemas/index-sets.js';
import type { ConsumedRecord } from '../../topics/contract.js';
import type { Epoch } from '../delivery/records.js';
import { parseOrigin } from '../origin.js';
import { addDocument, batchOf, indexOf, type RouteContext, type Routed, type Router } from './routed.js';

interface DeadLetterRoute {
  readonly routed: Routed;
  readonly epoch: Epoch;
  readonly ruleSetVersion: string;
  readonly coerce: RouteContext['coerce'];
}

export function createDeadLetterRouter({ routed, epoch, ruleSetVersion, coerce }: DeadLetterRoute): Router {
  const index = indexOf(epoch, deadLetterSet);
  return {
    route(records, start, end, skip) {
      for (let position = start; position < end; position += 1) {
        if (skip.has(position)) continue;
        const record = at(records, position);
        const document = coerce(index, documentOf(record, ruleSetVersion));
        addDocument(batchOf(routed, epoch, deadLetterSet, record), record, position, document);
      }
    },
  };
}

function documentOf(record: ConsumedRecord, ruleSetVersion: string): LogDocument {
  const receiveTime = new Date(record.timestamp).toISOString();
  const { receiver, peer } = parseOrigin(record.origin);
  const own: LogDocument = {
    source: peer,
    message: '',
    timestamp: receiveTime,
    receive_time: receiveTime,
    receiver,
    peer_address: peer,
    rule_set_version: ruleSetVersion,
    streams: [],
  };
  const deadLetter = parseDeadLetter(record.value);
  if (deadLetter === undefined)
    return { ...own, message: 'unreadable dead letter', raw_base64: record.value.toString('base64') };
  const { receive_time: timestamp, reason, ...fields } = deadLetter;
  return { ...own, ...fields, message: reason, timestamp, receive_time: receiveTime };
}

/** A foreign producer may have written anything. */
function parseDeadLetter(value: Buffer): DeadLetter | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(value.toString('utf8'));
  } catch {
    return undefined;
  }
  return typeof parsed === 'object' && parsed !== null && 'reason' in parsed && 'code' in parsed
    ? (parsed as DeadLetter)
    : undefined;
}
