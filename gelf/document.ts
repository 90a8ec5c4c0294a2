/**
 * From a checked GELF root to the flat document: nothing lost, nothing overwritten, what was changed to fit is listed.
 */
import type { FieldValue, LogDocument } from '../schemas/messages.js';
import { Draft } from './adjustments.js';
import type { DecodeContext, ParsedMessage } from './contract.js';
import { readLevel } from './levels.js';
import { compactJson } from './members.js';
import { createFieldNames, type FieldName } from './names.js';
import { newDocument } from './new-document.js';
import { isBlank } from './parse.js';
import { createIsoFormatter, fromSeconds, readTime } from './times.js';

type Root = Readonly<Record<string, unknown>>;

export function createDocumentBuilder(): (message: ParsedMessage, context: DecodeContext) => LogDocument {
  const builder = new DocumentBuilder();
  return (message, context) => builder.build(message, context);
}

class DocumentBuilder {
  readonly #fieldNameOf = createFieldNames();
  readonly #senderIso = createIsoFormatter();
  readonly #receiveIso = createIsoFormatter();
  readonly #addressOf = createAddressReader();

  build(message: ParsedMessage, context: DecodeContext): LogDocument {
    const { root } = message;
    const received = this.#receiveIso(context.receivedAt);
    const address = this.#addressOf(context.peer);
    const document = newDocument();
    document['source'] = typeof root['host'] === 'string' ? trimmed(root['host']) : address;
    document['message'] = messageOf(root);
    document['timestamp'] = received;
    document['receive_time'] = received;
    document['receiver'] = context.receiver;
    document['peer_address'] = address;
    const draft = new Draft(document, message.text);
    this.#setTimestamp(draft, root['timestamp'], context.timestamp);
    setStandard(draft, root);
    const later = this.#setClean(document, root);
    if (later !== undefined) this.#setLater(draft, root, later);
    if (message.text.includes('\\u')) replaceHalfCharacters(draft);
    return draft.finish();
  }

  /**
   * Fields that cannot collide are set at once; returns the keys of those that may, or that are more than a plain
   * value.
   */
  #setClean(document: LogDocument, root: Root): string[] | undefined {
    let later: string[] | undefined;
    for (const key in root) {
      const { role, name } = this.#fieldNameOf(key);
      if (role === 'skipped') continue;
      const value = root[key];
      if (value === null) continue;
      if (role === 'clean') {
        if (typeof value === 'string') {
          const text = trimmed(value);
          if (text !== '') document[name] = text;
          continue;
        }
        if (typeof value === 'boolean' || (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER)) {
          document[name] = value;
          continue;
        }
      }
      (later ??= []).push(key);
    }
    return later;
  }

  #setLater(draft: Draft, root: Root, keys: readonly string[]): void {
    for (const key of keys) {
      const field = this.#fieldNameOf(key);
      const { name, role } = field;
      const value = root[key];
      if (role === 'fixed') {
        const original = textOrValue(draft, value, key);
        if (original !== '' && !this.#isSaidBy(draft, name, original)) draft.putBeside(name, original, key);
      } else if (name === 'level' && !draft.has('level')) setLevel(draft, value, key);
      else setValue(draft, field, value, key);
    }
  }

  /** Whether the document says the same under the name that Sluice has for it. */
  #isSaidBy(draft: Draft, name: string, value: FieldValue): boolean {
    const counterpart = counterparts[name];
    const own = counterpart === undefined ? undefined : draft.document[counterpart];
    if (value === own) return true;
    const milliseconds = name === 'timestamp' && typeof value === 'number' ? fromSeconds(value) : undefined;
    return milliseconds !== undefined && this.#senderIso(milliseconds) === own;
  }

  #setTimestamp(draft: Draft, value: unknown, setting: DecodeContext['timestamp']): void {
    if (value === undefined || value === null || value === '') return;
    const target = setting === 'sender' ? 'timestamp' : 'sender_timestamp';
    const seconds = typeof value === 'number' ? fromSeconds(value) : undefined;
    if (seconds !== undefined) draft.document[target] = this.#senderIso(seconds);
    else this.#setOddTimestamp(draft, value, target);
  }

  /** One that is not a number of seconds. */
  #setOddTimestamp(draft: Draft, value: unknown, target: string): void {
    const read = typeof value === 'number' || typeof value === 'string' ? readTime(value) : undefined;
    if (read === undefined || !read.exact)
      draft.document['timestamp_text'] = String(textOrValue(draft, value, 'timestamp'));
    if (read === undefined) {
      draft.note('timestamp', 'not usable, kept as timestamp_text; the receive time stands in');
      return;
    }
    draft.document[target] = this.#senderIso(read.milliseconds);
    if (read.note !== undefined) draft.note('timestamp', read.note);
  }
}

const halfCharacter = /\p{Surrogate}/u;
const halfCharacters = /\p{Surrogate}/gu;

/**
 * An escape such as \ud800 may name half of a character, which UTF-8 cannot hold: each store would make something else
 * of it.
 */
function replaceHalfCharacters(draft: Draft): void {
  for (const [name, value] of Object.entries(draft.document)) {
    if (typeof value !== 'string' || !halfCharacter.test(value)) continue;
    draft.document[name] = value.replaceAll(halfCharacters, '\uFFFD');
    draft.note(name, 'held half a character, replaced by U+FFFD');
  }
}

function createAddressReader(): (peer: string) => string {
  let lastPeer = '';
  let lastAddress = 'unknown';
  return (peer) => {
    if (peer === lastPeer) return lastAddress;
    const bracketed = /^\[(.*)\](?::\d+)?$/.exec(peer)?.[1];
    const address = bracketed ?? (peer.indexOf(':') === peer.lastIndexOf(':') ? peer.replace(/:\d+$/, '') : peer);
    lastPeer = peer;
    lastAddress = address === '' ? 'unknown' : address;
    return lastAddress;
  };
}

/** As Graylog, strings are kept without the white space around them. */
function trimmed(text: string): string {
  const { length } = text;
  if (length === 0) return text;
  const last = text.charCodeAt(length - 1);
  return text.charCodeAt(0) > 0x20 && last > 0x20 && last < 0x80 ? text : text.trim();
}

function messageOf(root: Root): string {
  const { short_message: short, message } = root;
  return trimmed(typeof short === 'string' && !isBlank(short) ? short : String(message));
}

/** GELF fields whose type is given: a text stays a text whatever the sender wrote, a number a number. */
function setStandard(draft: Draft, root: Root): void {
  const { level, full_message: full, facility, file, line } = root;
  if (level !== undefined && level !== null && level !== '') setLevel(draft, level, 'level');
  if (full !== undefined) setText(draft, 'full_message', full);
  if (facility !== undefined) setText(draft, 'facility', facility);
  if (file !== undefined) setText(draft, 'file', file);
  if (line !== undefined) setLine(draft, line);
}

function setText(draft: Draft, name: string, value: unknown): void {
  if (value === null) return;
  const text =
    typeof value === 'string'
      ? trimmed(value)
      : typeof value === 'boolean'
        ? String(value)
        : compactJson(draft.literal(name));
  if (text !== '') draft.document[name] = text;
}

function setLevel(draft: Draft, value: unknown, key: string): void {
  const read = readLevel(value);
  if (read !== undefined) draft.document['level'] = read.level;
  if (read?.exact === true) return;
  const text = String(textOrValue(draft, value, key));
  if (text === '') return;
  draft.put('level_text', text, key, false);
  if (read === undefined) draft.note(key, 'is no level, kept as level_text');
}

/** The GELF field line, as other fields are named. */
const lineField = { name: 'line', changed: false } as const;

function setLine(draft: Draft, value: unknown): void {
  const number = typeof value === 'string' && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' || number === null) {
    setValue(draft, lineField, number, 'line');
    return;
  }
  const text = String(textOrValue(draft, value, 'line'));
  if (text === '') return;
  draft.document['line_text'] = text;
  draft.note('line', 'is no number, kept as line_text');
}

/** An additional field of any kind, where its name may be taken. */
function setValue(
  draft: Draft,
  { name, changed }: Pick<FieldName, 'name' | 'changed'>,
  value: unknown,
  key: string,
): void {
  if (value === null) return;
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    const literal = draft.literal(key);
    if (Number.isFinite(value)) draft.put(name, value, key, changed);
    if (!Number.isFinite(value) || (/^-?\d+$/.test(literal) && String(value) !== literal)) {
      const twin = draft.put(`${name}_text`, literal, key, false);
      draft.note(key, `is beyond what a number field holds, kept exactly as ${twin}`);
    }
    return;
  }
  const field = textOrValue(draft, value, key);
  if (field !== '') draft.put(name, field, key, changed);
}

/** Which field of the document says what a sender's field of a fixed name says. */
const counterparts: Readonly<Record<string, string>> = {
  host: 'source',
  source: 'source',
  short_message: 'message',
  message: 'message',
  timestamp: 'timestamp',
};

/**
 * A field's value as a document holds it: containers as JSON text, numbers that a double cannot hold as their digits.
 */
function textOrValue(draft: Draft, value: unknown, key: string): FieldValue {
  if (typeof value === 'string') return trimmed(value);
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : draft.literal(key);
  return compactJson(draft.literal(key));
}
