/**
 * Hits as lines: for people, or one JSON document a line. Nothing that a sender wrote reaches a terminal as a control
 * character.
 */
import type { SearchHit } from '../../schemas/query.js';

/** Controls, invisible format characters (bidirectional ones reorder a line), line separators, halves of characters. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const names: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const levels = ['EMERG', 'ALERT', 'CRIT', 'ERROR', 'WARN', 'NOTICE', 'INFO', 'DEBUG'] as const;
const timeFields: ReadonlySet<string> = new Set(['timestamp', 'receive_time']);

export function escapeControls(text: string): string {
  return text.replace(unsafe, (one) => names[one] ?? `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`);
}

/**
 * JSON that reads as the same value and holds no character that a terminal would act on; the line ends are those of the
 * indentation.
 */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(unsafe, (one) =>
    one === '\n'
      ? one
      : Array.from({ length: one.length }, (_, at) => `\\u${one.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
          '',
        ),
  );
}

/** ISO 8601 UTC with milliseconds, where the value is a time. */
function timeText(value: unknown): unknown {
  const time = typeof value === 'string' || typeof value === 'number' ? new Date(value) : undefined;
  return time === undefined || Number.isNaN(time.getTime()) ? value : time.toISOString();
}

export interface LineOptions {
  readonly json: boolean;
  readonly fields: readonly string[] | undefined;
  readonly color: boolean;
}

export function hitLine(hit: SearchHit, options: LineOptions): string {
  return options.json
    ? jsonLine(hit, options.fields)
    : options.fields === undefined
      ? messageLine(hit.document, options.color)
      : fieldsLine(hit.document, options.fields);
}

function jsonLine(hit: SearchHit, fields: readonly string[] | undefined): string {
  const flat: Record<string, unknown> = { _id: hit._id, _index: hit._index };
  for (const [name, value] of Object.entries(hit.document)) {
    if (fields !== undefined && !fields.includes(name)) continue;
    // A plain assignment of this name would change the prototype instead.
    if (name === '__proto__') Object.defineProperty(flat, name, { value, enumerable: true });
    else flat[name] = timeFields.has(name) ? timeText(value) : value;
  }
  return safeJson(flat);
}

function messageLine(document: Readonly<Record<string, unknown>>, color: boolean): string {
  const level = typeof document['level'] === 'number' ? document['level'] : undefined;
  const word = (level === undefined ? undefined : levels[level]) ?? plain(document['level']);
  const pod = document['pod'] ?? document['pod_name'] ?? document['container'] ?? document['container_name'];
  const origin = [document['source'], pod]
    .filter((part) => part !== undefined && part !== '')
    .map(plain)
    .join('/');
  const parts = [
    plain(timeText(document['timestamp'])),
    paint(word.padEnd(6), level, color),
    origin || '-',
    plain(document['message'] ?? document['full_message']),
  ];
  return parts.join('  ');
}

function fieldsLine(document: Readonly<Record<string, unknown>>, fields: readonly string[]): string {
  return fields
    .map((name) => `${escapeControls(name)}=${plain(timeFields.has(name) ? timeText(document[name]) : document[name])}`)
    .join('  ');
}

function plain(value: unknown): string {
  if (value === undefined || value === null) return '-';
  return escapeControls(
    typeof value === 'string'
      ? value
      : typeof value === 'number' || typeof value === 'boolean'
        ? String(value)
        : JSON.stringify(value),
  );
}

function paint(text: string, level: number | undefined, color: boolean): string {
  if (!color || level === undefined) return text;
  const code = level <= 3 ? 31 : level === 4 ? 33 : level >= 7 ? 90 : 32;
  return `\u001b[${code}m${text}\u001b[0m`;
}
