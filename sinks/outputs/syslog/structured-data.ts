/** Structured data of RFC 5424, 6.3: `[id name="value" ...]`; `-` for none. In values `"`, `\` and `]` stand behind a backslash. */
import { ownFields, type LogDocument } from '../../../schemas/messages.js';
import type { SyslogOutputSettings } from '../../../schemas/outputs.js';
import { withoutControls } from './text.js';

const maxNameLength = 32;
const special = /["\\\]]/;
const specials = /["\\\]]/g;

/** As many fields as `maxBytes` take, from the first on; all without it. */
export type StructuredData = (document: LogDocument, maxBytes?: number) => string;

export function createStructuredData(settings: SyslogOutputSettings): StructuredData {
  const { structured_data: chosen, structured_data_id: id, format } = settings;
  if (format !== 'rfc5424') return () => '';
  if (chosen === 'none') return () => '-';
  const nameOf = createNames();
  const elsewhere: ReadonlySet<string> = new Set([
    ...ownFields, settings.host_field, settings.application_field, settings.process_id_field, settings.message_id_field, settings.message_field,
    settings.severity_field, settings.facility_field, settings.time_field,
  ]);
  return (document, maxBytes) => {
    const fields = chosen === 'all' ? Object.keys(document) : chosen;
    let text = `[${id}`;
    let bytes = text.length + 1;
    const begin = text.length;
    for (const field of fields) {
      const value = document[field];
      if (value === undefined || (chosen === 'all' && elsewhere.has(field))) continue;
      const parameter = ` ${nameOf(field)}="${valueOf(value)}"`;
      if (maxBytes !== undefined) {
        bytes += Buffer.byteLength(parameter);
        if (bytes > maxBytes) break;
      }
      text += parameter;
    }
    return text.length === begin ? '-' : `${text}]`;
  };
}

function valueOf(value: Exclude<LogDocument[string], undefined>): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = withoutControls(typeof value === 'string' ? value : value.join(', '));
  return special.test(text) ? text.replace(specials, '\\$&') : text;
}

/** Names repeat; a flood of new ones begins the table anew. */
const maxNames = 10_000;

function createNames(): (field: string) => string {
  const names = new Map<string, string>();
  return (field) => {
    let name = names.get(field);
    if (name === undefined) {
      name = field.replace(/[^\x21-\x7e]|[=\]"]/g, '_').slice(0, maxNameLength);
      if (names.size >= maxNames) names.clear();
      names.set(field, name);
    }
    return name;
  };
}
