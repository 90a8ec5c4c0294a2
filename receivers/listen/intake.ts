/**
 * From frames to the pipeline: inflates, checks, splits what holds several documents, and hands over one batch per
 * read.
 */
import { isSluiceError, type SluiceError } from '../../core/errors.js';
import type { Refusal } from '../../schemas/messages.js';
import type { Diagnoser } from '../diagnosis.js';
import { compressionOf } from '../inflate/contract.js';
import type { MessageCounters } from '../metrics.js';
import type { ReceiverContext } from './context.js';
import { trim } from '../../core/trim.js';
import { splitDocuments } from './documents.js';
import { listenErrors } from './errors.js';

/** A dead letter keeps this much of the raw bytes. */
const rawHeadBytes = 64 * 1024;
/** Messages taken from one frame that holds several; no honest sender comes near. */
const maxDocumentsInFrame = 10_000;
const openBrace = 0x7b;

interface IntakeOptions {
  readonly receiver: string;
  readonly context: ReceiverContext;
  readonly counters: MessageCounters;
  readonly diagnoser: Diagnoser;
  readonly maxInflatedBytes: number;
  /** A newline between two documents of a frame is a wrong delimiter. */
  readonly nullDelimiter: boolean;
  /** Frames of one batch come from many senders (UDP). */
  readonly manyPeers: boolean;
}

/** A batch on its way: bytes held until `accepted` settles. It rejects only when the pipeline has stopped. */
export interface HandedOver {
  readonly bytes: number;
  readonly accepted: Promise<unknown>;
}

/**
 * Synchronous between `take` and `flush`: one intake serves all connections of a receiver, because each read is taken
 * and flushed before the next one begins.
 */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #now: () => number;
  #values: Buffer[] = [];
  #peers: string[] = [];
  #bytes = 0;
  #refusals: Refusal[] = [];
  #refusedBytes = 0;
  #refusedRawBytes = 0;
  #costlyBytes = 0;
  #skipped = 0;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#now = options.context.now ?? Date.now;
  }

  /** Messages that wait for `flush`. */
  get size(): number {
    return this.#values.length + this.#refusals.length;
  }

  get bytes(): number {
    return this.#bytes + this.#refusedBytes;
  }

  /** Refusals that wait for `flush`, and how long their input was. */
  get refused(): { readonly count: number; readonly bytes: number } {
    return { count: this.#refusals.length, bytes: this.#refusedRawBytes };
  }

  /** Bytes of messages that wait for `flush` and cost as much as refused ones, all the way to the store. */
  get costlyBytes(): number {
    return this.#costlyBytes;
  }

  /** One frame or reassembled datagram. The bytes may be a view; they are not copied. */
  take(frame: Buffer, peer: string): void {
    if (frame[0] === openBrace) this.#check(frame, peer, frame);
    else if (compressionOf(frame) !== 'none') this.#inflate(frame, peer);
    else this.#takePlain(trim(frame), frame, peer);
  }

  /** Input that is no message, with what its raw bytes began with. */
  refuse(error: SluiceError, raw: Buffer, rawLength: number, peer: string): void {
    const head = Buffer.from(raw.subarray(0, rawHeadBytes));
    this.#refusals.push({
      receiver: this.#options.receiver,
      peer,
      receivedAt: this.#now(),
      code: error.code,
      reason: error.message,
      raw: head,
      rawLength,
    });
    this.#refusedBytes += head.length;
    this.#refusedRawBytes += rawLength;
  }

  /** Hands over what was taken since the last time; undefined when that was nothing. */
  flush(lane: number | undefined, peer: string): HandedOver | undefined {
    const { counters, context, receiver, manyPeers } = this.#options;
    if (this.#skipped > 0) counters.skipped(this.#skipped);
    this.#skipped = 0;
    const values = this.#values;
    const refusals = this.#refusals;
    if (values.length === 0 && refusals.length === 0) return undefined;
    const bytes = this.#bytes;
    const held = bytes + this.#refusedBytes;
    const peers = manyPeers ? this.#peers : peer;
    this.#values = [];
    this.#peers = [];
    this.#refusals = [];
    this.#bytes = 0;
    this.#refusedBytes = 0;
    this.#refusedRawBytes = 0;
    this.#costlyBytes = 0;
    counters.received(values.length + refusals.length);
    counters.decoded(values.length);
    counters.refused(refusals.length);
    const pushed =
      values.length === 0
        ? undefined
        : context.sink.push({ receiver, lane, receivedAt: this.#now(), values, peers, bytes });
    const refused = refusals.length === 0 ? undefined : context.sink.refuse(refusals);
    const accepted =
      pushed !== undefined && refused !== undefined ? Promise.all([pushed, refused]) : (pushed ?? refused);
    return accepted === undefined ? undefined : { bytes: held, accepted };
  }

  #takePlain(text: Buffer, frame: Buffer, peer: string): void {
    if (text.length === 0) this.#skipped += 1;
    else this.#check(text, peer, frame);
  }

  #inflate(frame: Buffer, peer: string): void {
    const { context, diagnoser, maxInflatedBytes } = this.#options;
    const inflated = context.inflater.inflate(frame, maxInflatedBytes);
    if (!isSluiceError(inflated)) {
      this.#check(inflated, peer, frame);
      return;
    }
    diagnoser.examine(frame, peer);
    this.refuse(inflated, frame, frame.length, peer);
  }

  #check(value: Buffer, peer: string, raw: Buffer): void {
    const parsed = this.#options.context.checker.parse(value);
    if ('error' in parsed) {
      this.#refuseBad(parsed.error, value, peer, raw);
    } else if (parsed.extraDocuments) {
      this.#takeDocuments(value, peer);
    } else {
      if (parsed.manyFields === true) this.#costlyBytes += value.length;
      this.#accept(value, peer);
    }
  }

  #accept(accepted: Buffer, peer: string): void {
    // Some senders end a datagram with NUL too; it is no part of the document.
    const value = accepted[accepted.length - 1] === 0 ? trim(accepted) : accepted;
    this.#values.push(value);
    this.#bytes += value.length;
    if (this.#options.manyPeers) this.#peers.push(peer);
  }

  #refuseBad(error: SluiceError, value: Buffer, peer: string, raw: Buffer): void {
    const { diagnoser, nullDelimiter } = this.#options;
    const found = diagnoser.examine(raw, peer);
    if (found === undefined && nullDelimiter && hasNewlineBetween(value)) diagnoser.report('newline_for_null', peer);
    this.refuse(error, raw, raw.length, peer);
  }

  /** Each document of a frame becomes a message of its own, so that a wrong delimiter loses nothing. */
  #takeDocuments(value: Buffer, peer: string): void {
    const { context, diagnoser, nullDelimiter } = this.#options;
    diagnoser.report(nullDelimiter && hasNewlineBetween(value) ? 'newline_for_null' : 'two_documents', peer);
    const split = splitDocuments(value, maxDocumentsInFrame);
    if ('problem' in split) {
      this.refuse(
        listenErrors.create('RECEIVER_DOCUMENTS_TOO_MANY', {
          place: peer,
          allowed: `${maxDocumentsInFrame} in one frame`,
        }),
        value,
        value.length,
        peer,
      );
      return;
    }
    for (const document of split.documents) {
      const parsed = context.checker.parse(document);
      if ('error' in parsed) this.refuse(parsed.error, document, document.length, peer);
      else this.#accept(document, peer);
    }
  }
}

/** A document that begins on a new line behind another one. */
export function hasNewlineBetween(bytes: Buffer): boolean {
  return bytes.includes('}\n{') || bytes.includes('}\r\n{');
}
