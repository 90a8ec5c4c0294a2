/** Bulk bodies and what comes back. */
import { at } from '../../../core/at.js';
import { faultOf, flatFault, type OpenSearchFault, type OpenSearchReply } from '../../../core/opensearch-client.js';
import type { SluiceError } from '../../../core/errors.js';
import { storeErrors } from '../errors.js';
import type { WriteFailure, WriteRequest } from '../contract.js';
import { idField } from './mapping.js';

export interface BulkPart {
  /** Positions of the part's documents in the request. */
  readonly positions: readonly number[];
  readonly body: Buffer;
}

/** Characters beside id and document in one entry. */
const entryOverhead = 60;

/** Cuts the request into bodies of about this many bytes, at least one document each; characters count as bytes. */
export function* bulkParts(request: WriteRequest, bulkBytes: number, outcome: BulkOutcome): Generator<BulkPart> {
  let lines: string[] = [];
  let positions: number[] = [];
  let size = 0;
  const tombstones = request.replay?.tombstones;
  for (const [position, document] of request.documents.entries()) {
    const line = oneLine(document);
    if (line === undefined) {
      outcome.failures.push({
        position,
        kind: 'refused',
        code: 'STORE_DOCUMENT_INVALID',
        reason: 'The document is not a JSON object.',
      });
      continue;
    }
    const length = line.length + entryOverhead;
    if (lines.length > 0 && size + length > bulkBytes) {
      yield { positions, body: Buffer.from(lines.join('')) };
      [lines, positions, size] = [[], [], 0];
    }
    const id = at(request.ids, position);
    const tombstone = tombstones?.get(id);
    lines.push(tombstone === undefined ? bulkEntry(id, line) : replaceEntry(id, line, tombstone));
    positions.push(position);
    size += length;
  }
  if (lines.length > 0) yield { positions, body: Buffer.from(lines.join('')) };
}

/** A line end inside a document would shift all that follow it in the body. */
function oneLine(document: string): string | undefined {
  if (document.startsWith('{') && document.endsWith('}') && !document.includes('\n')) return document;
  try {
    const value: unknown = JSON.parse(document);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? JSON.stringify(value) : undefined;
  } catch {
    return undefined;
  }
}

function bulkEntry(id: string, document: string): string {
  const quoted = JSON.stringify(id);
  return `{"create":{"_id":${quoted}}}\n{"${idField}":${quoted}${document === '{}' ? '' : ','}${document.slice(1)}\n`;
}

/** An entry of a bulk that takes the place of the document with this revision only. */
export function replaceEntry(id: string, document: string, revision: string): string {
  const quoted = JSON.stringify(id);
  const [sequence, term] = revision.split('/');
  return `{"index":{"_id":${quoted},"if_seq_no":${Number(sequence)},"if_primary_term":${Number(term)}}}\n{"${idField}":${quoted}${document === '{}' ? '' : ','}${document.slice(1)}\n`;
}

/** Two halves of a part that was too large for the engine or something before it; a single document is refused. */
export function splitPart(part: BulkPart, outcome: BulkOutcome): readonly BulkPart[] {
  const half = part.positions.length >> 1;
  if (half === 0) {
    outcome.failures.push({
      position: at(part.positions, 0),
      kind: 'refused',
      code: 'STORE_DOCUMENT_REFUSED',
      reason: `413: ${part.body.length} bytes are too large for one request`,
    });
    return [];
  }
  let cut = 0;
  for (let line = 0; line < half * 2; line += 1) cut = part.body.indexOf(10, cut) + 1;
  return [
    { positions: part.positions.slice(0, half), body: part.body.subarray(0, cut) },
    { positions: part.positions.slice(half), body: part.body.subarray(cut) },
  ];
}

export interface BulkOutcome {
  stored: number;
  alreadyStored: number;
  readonly alreadyStoredAt: number[];
  readonly failures: WriteFailure[];
}

interface BulkResult {
  readonly status: number;
  readonly error?: object;
}

/** By what was asked for: to create a document, or to put it in the place of its tombstone. */
type BulkItem = { readonly create: BulkResult } | { readonly index: BulkResult };

/** Adds the reply of one part; throws what stands for the whole index. */
export function addReply(outcome: BulkOutcome, part: BulkPart, reply: OpenSearchReply, index: string): void {
  if (reply.status !== 200) throw wholeError(reply.status, faultOf(reply), index);
  const { errors, items } = reply.body as { errors: boolean; items: readonly BulkItem[] };
  if (items.length !== part.positions.length)
    throw storeErrors.create('STORE_UNAVAILABLE', {
      place: index,
      got: `${items.length} results for ${part.positions.length} documents`,
    });
  if (!errors) {
    outcome.stored += part.positions.length;
    return;
  }
  for (const [place, item] of items.entries()) {
    const { status, error = {} } = 'create' in item ? item.create : item.index;
    if (status < 300) outcome.stored += 1;
    else if (status === 409) {
      outcome.alreadyStored += 1;
      outcome.alreadyStoredAt.push(at(part.positions, place));
    } else outcome.failures.push(itemFailure(at(part.positions, place), status, flatFault(error), index));
  }
}

function itemFailure(position: number, status: number, fault: OpenSearchFault, index: string): WriteFailure {
  const whole = indexError(status, fault, index);
  if (whole !== undefined) throw whole;
  const reason = `${fault.type}: ${fault.reason}`.slice(0, 1_000);
  if (status === 429 || status === 503) return { position, kind: 'retry', code: 'STORE_OVERLOADED', reason };
  // Perhaps the engine stumbled, perhaps this document makes it stumble each time: the caller bounds the attempts.
  return status >= 500
    ? { position, kind: 'retry', code: 'STORE_DOCUMENT_FAILED', reason }
    : { position, kind: 'refused', code: 'STORE_DOCUMENT_REFUSED', reason };
}

/** What concerns the index and not one document. */
export function indexError(status: number, fault: OpenSearchFault, index: string): SluiceError | undefined {
  const details = { place: index, got: `${status} ${fault.type}: ${fault.reason}`.slice(0, 500) };
  if (fault.type === 'index_not_found_exception') return storeErrors.create('STORE_INDEX_MISSING', details);
  if (fault.type === 'index_closed_exception') return storeErrors.create('STORE_INDEX_CLOSED', details);
  if (fault.type !== 'cluster_block_exception') return undefined;
  if (fault.reason.includes('/4/index closed')) return storeErrors.create('STORE_INDEX_CLOSED', details);
  return storeErrors.create(status >= 500 ? 'STORE_UNAVAILABLE' : 'STORE_INDEX_BLOCKED', details);
}

/** The error of a whole request that got an answer. */
export function wholeError(status: number, fault: OpenSearchFault, index: string): SluiceError {
  const known = indexError(status, fault, index);
  if (known !== undefined) return known;
  const details = { place: index, got: `${status} ${fault.type}: ${fault.reason}`.slice(0, 500) };
  return storeErrors.create(status === 429 ? 'STORE_OVERLOADED' : 'STORE_UNAVAILABLE', details);
}
