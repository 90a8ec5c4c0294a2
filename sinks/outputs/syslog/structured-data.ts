/**
 * Structured data of RFC 5424, 6.3: `[id name="value" ...]`; `-` for none. In values `"`, `\` and `]` stand behind a
 * backslash.
 */
import { ownFields, type LogDocument } from '../../../schemas/messages.js';
import type { SyslogOutputSettings } from '../../../schemas/outputs/syslog.js';
import { parameterValue } from './text.js';

const maxNameLength = 32;

/** As many fields as `maxBytes` take, from the first on; all without it. */
export type StructuredData = (document: LogDocument, maxBytes?: number) => string;

export function createStructuredData(settings: SyslogOutputSettings): StructuredData {
  const { structured_data: chosen, structured_data_id: id, format } = settings;
  if (format !== 'rfc5424') return () => '';
  if (chosen === 'none') return () => '-';
  const elsewhere: ReadonlySet<string> = new Set(
    chosen !== 'all'
      ? []
      : [
          ...ownFields,
          settings.host_field,
          settings.application_field,
          settings.process_id_field,
          settings.message_id_field,
          settings.message_field,
          settings.severity_field,
          settings.facility_field,
          settings.time_field,
        ],
  );
  const beginOf = createBeginnings(elsewhere);
  const open = `[${id}`;
  const all = (document: LogDocument): string => {
    let text = open;
    for (const field in document) text += parameterOf(beginOf(field), document[field]);
    return text === open ? '-' : `${text}]`;
  };
  const some = (document: LogDocument, fields: readonly string[], maxBytes: number): string => {
    let text = open;
    let bytes = open.length + 1;
    for (const field of fields) {
      const parameter = parameterOf(beginOf(field), document[field]);
      bytes += Buffer.byteLength(parameter);
      if (bytes > maxBytes) break;
      text += parameter;
    }
    return text === open ? '-' : `${text}]`;
  };
  return (document, maxBytes) =>
    chosen === 'all' && maxBytes === undefined
      ? all(document)
      : some(document, chosen === 'all' ? Object.keys(document) : chosen, maxBytes ?? Infinity);
}

/** ` name="value"`; nothing for a field that is absent or stands elsewhere. */
function parameterOf(begin: string, value: LogDocument[string] | undefined): string {
  if (begin === '' || value === undefined) return '';
  if (typeof value === 'string') return `${begin}${parameterValue(value)}"`;
  return typeof value === 'object' ? `${begin}${parameterValue(value.join(', '))}"` : `${begin}${String(value)}"`;
}

/** Names repeat; a flood of new ones begins the table anew. */
const maxNames = 10_000;

/** ` name="`; empty for fields that stand elsewhere in the message. */
function createBeginnings(elsewhere: ReadonlySet<string>): (field: string) => string {
  const beginnings = new Map<string, string>();
  return (field) => {
    let begin = beginnings.get(field);
    if (begin === undefined) {
      begin = elsewhere.has(field) ? '' : ` ${field.replace(/[^\x21-\x7e]|[=\]"]/g, '_').slice(0, maxNameLength)}="`;
      if (beginnings.size >= maxNames) beginnings.clear();
      beginnings.set(field, begin);
    }
    return begin;
  };
}
