/** From a checked GELF root to the flat document: nothing lost, nothing overwritten, what was changed to fit is listed. */
import type { FieldValue, LogDocument } from '../schemas/messages.js';
import { Draft } from './adjustments.js';
import type { DecodeContext, ParsedMessage } from './contract.js';
import { readLevel } from './levels.js';
import { compactJson, literalsOf } from './members.js';
import { createFieldNames } from './names.js';
import { newDocument } from './new-document.js';
import { isBlank } from './parse.js';
import { createIsoFormatter, fromSeconds, readTime } from './times.js';

type Root = Readonly<Record<string, unknown>>;
/** The text that the sender wrote for a top-level field. Scans the message at the first call. */
type Literals = (key: string) => string;

export function createDocumentBuilder(): (message: ParsedMessage, context: DecodeContext) => LogDocument {
  const fieldNameOf = createFieldNames();
  const senderIso = createIsoFormatter();
  const receiveIso = createIsoFormatter();
  const addressOf = createAddressReader();

  /** Fields that cannot collide are set at once; returns the keys of those that may, or that are more than a plain value. */
  function setClean(document: LogDocument, root: Root): string[] | undefined {
    let later: string[] | undefined;
    for (const key in root) {
      const { role, name } = fieldNameOf(key);
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

  function setLater(draft: Draft, root: Root, keys: readonly string[], literals: Literals): void {
    for (const key of keys) {
      const { name, role, changed } = fieldNameOf(key);
      const value = root[key];
      if (role === 'fixed') setBeside(draft, name, key, textOrValue(value, key, literals), senderIso);
      else if (name === 'level' && !draft.has('level')) setLevel(draft, value, key, literals);
      else setValue(draft, name, value, key, changed, literals);
    }
  }

  return (message, context) => {
    const { root } = message;
    const received = receiveIso(context.receivedAt);
    const address = addressOf(context.peer);
    const document = newDocument();
    document['source'] = typeof root['host'] === 'string' ? trimmed(root['host']) : address;
    document['message'] = messageOf(root);
    document['timestamp'] = received;
    document['receive_time'] = received;
    document['receiver'] = context.receiver;
    document['peer_address'] = address;
    const draft = new Draft(document);
    const literals = createLiterals(message);
    setTimestamp(draft, root['timestamp'], context.timestamp, literals, senderIso);
    setStandard(draft, root, literals);
    const later = setClean(document, root);
    if (later !== undefined) setLater(draft, root, later, literals);
    if (message.text.includes('\\u')) replaceHalfCharacters(draft);
    return draft.finish();
  };
}

const halfCharacter = /\p{Surrogate}/u;
const halfCharacters = /\p{Surrogate}/gu;

/** An escape such as \ud800 may name half of a character, which UTF-8 cannot hold: each store would make something else of it. */
function replaceHalfCharacters(draft: Draft): void {
  for (const [name, value] of Object.entries(draft.document)) {
    if (typeof value !== 'string' || !halfCharacter.test(value)) continue;
    draft.document[name] = value.replaceAll(halfCharacters, '\uFFFD');
    draft.note(name, 'held half a character, replaced by U+FFFD');
  }
}

function createLiterals(message: ParsedMessage): Literals {
  let literals: ReadonlyMap<string, string> | undefined;
  return (key) => (literals ??= literalsOf(message.text)).get(key) ?? '';
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

function setTimestamp(
  draft: Draft,
  value: unknown,
  setting: DecodeContext['timestamp'],
  literals: Literals,
  iso: (milliseconds: number) => string,
): void {
  if (value === undefined || value === null || value === '') return;
  const target = setting === 'sender' ? 'timestamp' : 'sender_timestamp';
  const seconds = typeof value === 'number' ? fromSeconds(value) : undefined;
  if (seconds !== undefined) {
    draft.document[target] = iso(seconds);
    return;
  }
  const read = typeof value === 'number' || typeof value === 'string' ? readTime(value) : undefined;
  if (read === undefined || !read.exact)
    draft.document['timestamp_text'] = String(textOrValue(value, 'timestamp', literals));
  if (read === undefined) {
    draft.note('timestamp', 'not usable, kept as timestamp_text; the receive time stands in');
    return;
  }
  draft.document[target] = iso(read.milliseconds);
  if (read.note !== undefined) draft.note('timestamp', read.note);
}

/** GELF fields whose type is given: a text stays a text whatever the sender wrote, a number a number. */
function setStandard(draft: Draft, root: Root, literals: Literals): void {
  const { level, full_message: full, facility, file, line } = root;
  if (level !== undefined && level !== null && level !== '') setLevel(draft, level, 'level', literals);
  if (full !== undefined) setText(draft, 'full_message', full, literals);
  if (facility !== undefined) setText(draft, 'facility', facility, literals);
  if (file !== undefined) setText(draft, 'file', file, literals);
  if (line !== undefined) setLine(draft, line, literals);
}

function setText(draft: Draft, name: string, value: unknown, literals: Literals): void {
  if (value === null) return;
  const text =
    typeof value === 'string'
      ? trimmed(value)
      : typeof value === 'boolean'
        ? String(value)
        : compactJson(literals(name));
  if (text !== '') draft.document[name] = text;
}

function setLevel(draft: Draft, value: unknown, key: string, literals: Literals): void {
  const read = readLevel(value);
  if (read !== undefined) draft.document['level'] = read.level;
  if (read?.exact === true) return;
  const text = String(textOrValue(value, key, literals));
  if (text === '') return;
  draft.put('level_text', text, key, false);
  if (read === undefined) draft.note(key, 'is no level, kept as level_text');
}

function setLine(draft: Draft, value: unknown, literals: Literals): void {
  const number = typeof value === 'string' && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' || number === null) {
    setValue(draft, 'line', number, 'line', false, literals);
    return;
  }
  const text = String(textOrValue(value, 'line', literals));
  if (text === '') return;
  draft.document['line_text'] = text;
  draft.note('line', 'is no number, kept as line_text');
}

/** An additional field of any kind, where its name may be taken. */
function setValue(draft: Draft, name: string, value: unknown, key: string, changed: boolean, literals: Literals): void {
  if (value === null) return;
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    const literal = literals(key);
    if (Number.isFinite(value)) draft.put(name, value, key, changed);
    if (!Number.isFinite(value) || (/^-?\d+$/.test(literal) && String(value) !== literal)) {
      const twin = draft.put(`${name}_text`, literal, key, false);
      draft.note(key, `is beyond what a number field holds, kept exactly as ${twin}`);
    }
    return;
  }
  const field = textOrValue(value, key, literals);
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

function setBeside(
  draft: Draft,
  name: string,
  key: string,
  value: FieldValue,
  iso: (milliseconds: number) => string,
): void {
  if (value === '') return;
  const counterpart = counterparts[name];
  const kept = counterpart === undefined ? undefined : draft.document[counterpart];
  if (value === kept) return;
  const milliseconds = name === 'timestamp' && typeof value === 'number' ? fromSeconds(value) : undefined;
  if (milliseconds !== undefined && iso(milliseconds) === kept) return;
  draft.putBeside(name, value, key);
}

/** A field's value as a document holds it: containers as JSON text, numbers that a double cannot hold as their digits. */
function textOrValue(value: unknown, key: string, literals: Literals): FieldValue {
  if (typeof value === 'string') return trimmed(value);
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : literals(key);
  return compactJson(literals(key));
}
