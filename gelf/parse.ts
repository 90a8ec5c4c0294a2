/**
 * From bytes to a checked GELF root object. JSON.parse first; what it refuses gets the lenient parser. Both give the
 * same for the same message.
 */
import { isSluiceError, withoutStack, type SluiceError } from '../core/errors.js';
import { gelfErrors } from './errors.js';
import type { ParsedMessage } from './contract.js';
import { checkDepth, invalid, maxDepth, parseLenient, skipSpace } from './lenient-json.js';

type Root = Readonly<Record<string, unknown>>;
type Outcome = ParsedMessage | { readonly error: SluiceError };

/**
 * Above this size, depth is looked at before parsing: each level costs JSON.parse memory, and a frame may hold
 * millions.
 */
const deepScanLength = 64 * 1024;
const byteOrderMark = 0xfeff;
/** A thousand is what OpenSearch gives an index for all its messages. Shorter text is not counted. */
const manyFields = 1000;
const manyFieldsLength = 16 * 1024;
/** Long text that cannot be an object is parsed up to here: enough to say what it is. */
const oddHeadLength = 256;

export function parseMessage(bytes: Buffer): Outcome {
  const length = contentLength(bytes);
  if (length === 0) return { error: gelfErrors.create('DECODE_EMPTY') };
  if (length > deepScanLength && isNoContainer(bytes))
    return withoutStack(() => parseOdd(bytes.toString('utf8', 0, oddHeadLength)));
  const text = bytes.toString('utf8', 0, length);
  if (text.length > deepScanLength) {
    const tooDeep = checkDepth(text);
    if (tooDeep !== undefined) return { error: tooDeep };
  }
  const limit = Error.stackTraceLimit;
  // garbage costs half as much when JSON.parse takes no stack to throw; withoutStack would make a closure a message
  Error.stackTraceLimit = 0;
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return withoutStack(() => parseOdd(text));
  } finally {
    Error.stackTraceLimit = limit;
  }
  return check(root, text, false);
}

/** Its first byte is neither white space nor that of an object, an array, a text or a byte order mark. */
function isNoContainer(bytes: Buffer): boolean {
  const first = bytes[0] ?? 0;
  return first > 0x20 && first < 0x80 && first !== 0x7b && first !== 0x5b && first !== 0x22;
}

/** Without the NUL bytes and white space that senders put behind a message. */
function contentLength(bytes: Buffer): number {
  let length = bytes.length;
  while (length > 0 && (bytes[length - 1] ?? 0) <= 0x20) length -= 1;
  return length;
}

function parseOdd(original: string): Outcome {
  const text = original.charCodeAt(0) === byteOrderMark ? original.slice(1) : original;
  const first = parseLenient(text);
  if (isSluiceError(first)) return { error: first };
  const rest = endOfPadding(text, first.end);
  if (rest < text.length && text[rest] !== '{' && text[rest] !== '[')
    return { error: invalid(text, rest, 'nothing behind the message') };
  return check(first.value, text, rest < text.length);
}

/** NUL bytes, byte order marks and white space may stand between documents. */
function endOfPadding(text: string, from: number): number {
  let at = skipSpace(text, from);
  while (text.charCodeAt(at) === 0 || text.charCodeAt(at) === byteOrderMark) at = skipSpace(text, at + 1);
  return at;
}

function check(value: unknown, text: string, extraDocuments: boolean): Outcome {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return {
      error: gelfErrors.create('DECODE_ROOT_NOT_OBJECT', {
        got: shorten(value),
        allowed: '{"short_message": "..."}',
      }),
    };
  }
  const root = value as Root;
  const problem = problemOf(root, text);
  if (problem !== undefined) return { error: problem };
  return text.length > manyFieldsLength && Object.keys(root).length > manyFields
    ? { root, text, extraDocuments, manyFields: true }
    : { root, text, extraDocuments };
}

function problemOf(root: Root, text: string): SluiceError | undefined {
  const { host, short_message: short, message } = root;
  if (host !== undefined && host !== null && (typeof host !== 'string' || isBlank(host))) {
    return gelfErrors.create('DECODE_HOST_INVALID', {
      place: 'host',
      got: shorten(host),
      allowed: 'a text that is not blank, or no host',
    });
  }
  if (typeof short !== 'string' || isBlank(short)) {
    const unfit = messageProblem(short, message);
    if (unfit !== undefined) return unfit;
  }
  return text.length > 2 * maxDepth && text.length <= deepScanLength && hasNested(root) ? checkDepth(text) : undefined;
}

/** `message` stands in for a short_message that is absent, null or blank. */
function messageProblem(short: unknown, message: unknown): SluiceError | undefined {
  if (typeof short !== 'string' && short !== undefined && short !== null) {
    return gelfErrors.create('DECODE_MESSAGE_INVALID', { place: 'short_message', got: shorten(short) });
  }
  if (typeof message === 'string') {
    return isBlank(message) ? gelfErrors.create('DECODE_MESSAGE_BLANK', { place: 'message' }) : undefined;
  }
  if (message !== undefined && message !== null)
    return gelfErrors.create('DECODE_MESSAGE_INVALID', { place: 'message', got: shorten(message) });
  return gelfErrors.create(typeof short === 'string' ? 'DECODE_MESSAGE_BLANK' : 'DECODE_MESSAGE_MISSING', {
    place: 'short_message',
  });
}

export function isBlank(text: string): boolean {
  return !(text.charCodeAt(0) > 0x20) && text.trim() === '';
}

function hasNested(root: Root): boolean {
  for (const name in root) {
    const value = root[name];
    if (typeof value === 'object' && value !== null) return true;
  }
  return false;
}

/** Names the kind of containers instead of printing them: they may be large or deep. */
function shorten(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}
