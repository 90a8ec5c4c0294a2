/** Reads a request's body, bounded, and cuts it into messages. */
import type { IncomingMessage } from 'node:http';
import { at } from '../../core/at.js';
import { isSluiceError, type SluiceError } from '../../core/errors.js';
import type { MessageChecker } from '../contract.js';
import { contentEncodings, inflateBody, maxContentEncodings } from '../inflate/content-encoding.js';
import type { Inflater } from '../inflate/contract.js';
import { splitArray, splitDocuments, splitLines, type Documents } from './documents.js';
import { trim } from '../../core/trim.js';
import { listenErrors } from './errors.js';

/** Messages of one request; each costs memory beside its bytes. */
export const maxMessagesInBody = 100_000;

export interface Body {
  /** False: the body is one message, and is answered as one. */
  readonly batch: boolean;
  readonly messages: readonly Buffer[];
}

export interface BodyBudget {
  /** Bytes of all bodies that are being read; false when these more are too many. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export function createBodyBudget(maxBytes: number): BodyBudget {
  let held = 0;
  return {
    take: (bytes) => {
      if (held + bytes > maxBytes) return false;
      held += bytes;
      return true;
    },
    give: (bytes) => {
      held -= bytes;
    },
  };
}

/** The encodings the body is in, in the order of the header, or why they cannot be undone. */
export function encodingsOf(request: IncomingMessage): readonly string[] | SluiceError {
  const header = request.headers['content-encoding'] ?? '';
  const encodings = header
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  if (encodings.length <= maxContentEncodings && encodings.every((name) => contentEncodings.includes(name)))
    return encodings.length === 0 ? ['identity'] : encodings;
  return listenErrors.create('RECEIVER_ENCODING_UNSUPPORTED', {
    got: header.slice(0, 100),
    allowed: contentEncodings.join(', '),
  });
}

export function tooLargeByHeader(request: IncomingMessage, maxBytes: number): boolean {
  return Number(request.headers['content-length'] ?? 0) > maxBytes;
}

export function bodyTooLarge(maxBytes: number): SluiceError {
  return listenErrors.create('RECEIVER_BODY_TOO_LARGE', { allowed: `${maxBytes} bytes (setting max_body_bytes)` });
}

/** The body as it came. The rest of one that is refused is read and dropped, so that the sender sees the answer. */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  budget: BodyBudget,
  onBytes: (bytes: number) => void,
): Promise<Buffer | SluiceError> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let total = 0;
    const done = (result: Buffer | SluiceError) => {
      request.off('data', take);
      budget.give(total);
      total = 0;
      if (isSluiceError(result)) request.resume();
      resolve(result);
    };
    const take = (part: Buffer) => {
      onBytes(part.length);
      if (total + part.length > maxBytes) {
        done(bodyTooLarge(maxBytes));
      } else if (!budget.take(part.length)) {
        done(listenErrors.create('RECEIVER_FULL', { got: 'too many bodies at the same time' }));
      } else {
        total += part.length;
        parts.push(part);
      }
    };
    request.on('data', take);
    request.once('end', () => {
      done(parts.length === 1 ? at(parts, 0) : Buffer.concat(parts));
    });
    request.once('close', () => {
      done(listenErrors.create('RECEIVER_BODY_CUT'));
    });
    request.once('error', () => {
      done(listenErrors.create('RECEIVER_BODY_CUT'));
    });
  });
}

/** What the bodies of a receiver are cut with. */
export interface BodyParts {
  /** Largest body after inflation. */
  readonly maxBytes: number;
  readonly inflater: Inflater;
  readonly checker: MessageChecker;
}

/**
 * Cuts a plain or compressed body into messages: one object, lines, several objects, or an array. Their bytes stay as
 * they came.
 */
export function splitBody(
  bytes: Buffer,
  encodings: readonly string[],
  { maxBytes, inflater, checker }: BodyParts,
): Body | SluiceError {
  const plain = inflateBody(bytes, encodings, maxBytes, inflater);
  if (isSluiceError(plain)) return plain;
  const text = trim(plain);
  if (text.length === 0) return listenErrors.create('RECEIVER_BODY_EMPTY');
  if (text[0] === 0x5b) return batchOf(splitArray(text, maxMessagesInBody));
  if (!text.includes(0x0a)) return splitOne(text, checker);
  return splitOnLines(text, checker);
}

/** Without a newline it is one message; several objects in a row are taken as several. */
function splitOne(text: Buffer, checker: MessageChecker): Body | SluiceError {
  const parsed = checker.parse(text);
  if ('error' in parsed || !parsed.extraDocuments) return { batch: false, messages: [text] };
  return batchOf(splitDocuments(text, maxMessagesInBody));
}

/** Lines of messages, or one message that is written over several lines. */
function splitOnLines(text: Buffer, checker: MessageChecker): Body | SluiceError {
  const firstLine = trim(text.subarray(0, text.indexOf(0x0a)));
  const lines = splitLines(text, maxMessagesInBody);
  if (!('error' in checker.parse(firstLine))) return batchOf(lines);
  const whole = splitOne(text, checker);
  if (isSluiceError(whole) || whole.batch) return whole;
  if (!('error' in checker.parse(text)) || 'problem' in lines) return whole;
  const linesOfObjects = lines.documents.slice(1).every((line) => line[0] === 0x7b);
  return linesOfObjects ? batchOf(lines) : whole;
}

function batchOf(split: Documents): Body | SluiceError {
  if ('problem' in split) {
    if (split.problem === 'too_many')
      return listenErrors.create('RECEIVER_DOCUMENTS_TOO_MANY', { allowed: `${maxMessagesInBody} in one request` });
    return listenErrors.create('RECEIVER_BODY_INVALID', { got: 'an array that does not end as one' });
  }
  return split.documents.length === 0
    ? listenErrors.create('RECEIVER_BODY_EMPTY')
    : { batch: true, messages: split.documents };
}
