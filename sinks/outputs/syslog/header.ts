/**
 * Headers of syslog messages.
 *   RFC 5424, 6: `<PRI>1 TIMESTAMP HOSTNAME APP-NAME PROCID MSGID `, before structured data and text.
 *   RFC 3164, 4.1: `<PRI>Mmm dd hh:mm:ss HOSTNAME TAG[PID]: `, before the text; the time is local.
 */
import type { LogDocument } from '../../../schemas/messages.js';
import { facilities, severities, type SyslogOutputSettings } from '../../../schemas/outputs/syslog.js';
import { printable } from './text.js';

const facilityNumbers = new Map<string, number>(facilities.map((name, number) => [name, number]));
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const maxLengths = { host: 255, application: 48, processId: 128, messageId: 32, tag: 32 } as const;

export function textOf(document: LogDocument, field: string): string {
  const value = field === '' ? undefined : document[field];
  if (value === undefined) return '';
  return typeof value === 'string' ? value : typeof value === 'object' ? value.join(', ') : String(value);
}

function facilityOf(text: string, fallback: number): number {
  if (text === '') return fallback;
  const named = facilityNumbers.get(text.toLowerCase());
  if (named !== undefined) return named;
  const number = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return number <= 23 ? number : fallback;
}

function severityOf(value: LogDocument[string] | undefined, fallback: number): number {
  const number =
    typeof value === 'number'
      ? Math.trunc(value)
      : typeof value === 'string' && /^\d{1,9}$/.test(value)
        ? Number(value)
        : Number.NaN;
  return number >= 0 ? Math.min(number, severities.length - 1) : fallback;
}

export type Header = (document: LogDocument) => string;

export function createHeader(settings: SyslogOutputSettings): Header {
  const facility = facilityNumbers.get(settings.facility) as number;
  const severity = severities.indexOf(settings.severity);
  const priority = (document: LogDocument): number =>
    facilityOf(textOf(document, settings.facility_field), facility) * 8 +
    severityOf(settings.severity_field === '' ? undefined : document[settings.severity_field], severity);
  const application = (document: LogDocument): string =>
    textOf(document, settings.application_field) || settings.application;
  const host = createMemo((text: string) => printable(text, maxLengths.host));
  const messageId = (document: LogDocument): string =>
    printable(textOf(document, settings.message_id_field), maxLengths.messageId);
  if (settings.format === 'rfc5424') {
    const priorities = createMemo((value: number) => `<${value}>1 `);
    const names = createMemo((text: string) => `${printable(text, maxLengths.application)} `);
    const hosts = createMemo((text: string) => ` ${host(text)} `);
    const isoTime = createIsoTimes();
    const { process_id_field: processIdField, message_id_field: messageIdField } = settings;
    const processId = (document: LogDocument): string =>
      printable(textOf(document, processIdField), maxLengths.processId);
    const ids =
      processIdField === '' && messageIdField === ''
        ? () => '- - '
        : (document: LogDocument) => `${processId(document)} ${messageId(document)} `;
    return (document) =>
      priorities(priority(document)) +
      isoTime(textOf(document, settings.time_field)) +
      hosts(textOf(document, settings.host_field)) +
      names(application(document)) +
      ids(document);
  }
  const tags = createMemo((text: string) => printable(text, maxLengths.tag).replace(/[[\]:]/g, '_'));
  return (document) => {
    const processId = textOf(document, settings.process_id_field);
    return `<${priority(document)}>${oldTime(textOf(document, settings.time_field))} ${host(textOf(document, settings.host_field))} ${tags(application(document))}${processId === '' ? '' : `[${printable(processId, maxLengths.processId).replace(/[[\]:]/g, '_')}]`}: `;
  };
}

/** Hosts and applications repeat; a flood of new ones begins the table anew. */
const maxMemo = 1_000;

function createMemo<Key>(make: (key: Key) => string): (key: Key) => string {
  const made = new Map<Key, string>();
  return (text) => {
    let found = made.get(text);
    if (found === undefined) {
      found = make(text);
      if (made.size >= maxMemo) made.clear();
      made.set(text, found);
    }
    return found;
  };
}

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)$/;

/** `2026-01-02T03:04:05.`: neighbours share it, and only milliseconds are left to look at. */
const secondLength = 20;
const milliseconds = /^\d\d\dZ$/;

/** `-` for a time that RFC 5424 cannot say. */
function createIsoTimes(): (text: string) => string {
  let second = '-';
  return (text) => {
    if (text.length === secondLength + 4 && text.startsWith(second) && milliseconds.test(text.slice(secondLength)))
      return text;
    if (!iso.test(text)) return '-';
    if (text.charAt(secondLength - 1) === '.') second = text.slice(0, secondLength);
    return text;
  };
}

function oldTime(text: string): string {
  const milliseconds = Date.parse(text);
  const time = new Date(Number.isNaN(milliseconds) ? Date.now() : milliseconds);
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${months[time.getMonth()]} ${String(time.getDate()).padStart(2, ' ')} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}
