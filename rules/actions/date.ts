import { Type } from 'typebox';
import { plainReader, textOf } from '../fields.js';
import { shown } from '../problems.js';
import { checkWritable, defineAction, nothing } from './define.js';
import { timeReader, zoneOffset, type TimeReader, type ZoneOffset } from './parsing/time-format.js';

/** The span that the stores take: 1970 to 9999. */
const latest = Date.UTC(9999, 11, 31);
/** No format is longer; keeps the readers cheap on long messages. */
const longestTime = 100;

export const date = defineAction({
  name: 'date',
  description:
    'Reads a time and writes it as ISO 8601 UTC with milliseconds. Formats are tried in order: iso8601, unix (seconds), unix_ms, or letters such as `yyyy-MM-dd HH:mm:ss,SSS`. What no format reads stays as it is.',
  schema: Type.Object(
    {
      field: Type.String({ description: 'Field to read.', minLength: 1 }),
      formats: Type.Optional(
        Type.Array(Type.String({ minLength: 1 }), { description: 'Formats to try; default: iso8601.', minItems: 1 }),
      ),
      timezone: Type.Optional(
        Type.String({ description: 'Zone of times without one: UTC, +02:00 or Europe/Berlin.', default: 'UTC' }),
      ),
      to: Type.Optional(
        Type.String({
          description: 'Field to write; the time of the message is `timestamp`.',
          default: 'timestamp',
          minLength: 1,
        }),
      ),
    },
    { additionalProperties: false, description: 'Read a time.' },
  ),
  example: {
    then: [{ date: { field: 'event_time', formats: ['yyyy-MM-dd HH:mm:ss,SSS'], timezone: '+02:00' } }],
    before: { event_time: '2026-01-02 03:04:05,678' },
    after: { event_time: '2026-01-02 03:04:05,678', timestamp: '2026-01-02T01:04:05.678Z' },
  },
  build: ({ field, formats = ['iso8601'], timezone = 'UTC', to = 'timestamp' }, place) => {
    if (to !== 'timestamp') checkWritable(to, place.at('to'));
    const zone = zoneOffset(timezone);
    if (zone === undefined) {
      place.at('timezone').report('There is no such time zone.', {
        got: shown(timezone),
        allowed: 'UTC, an offset such as +02:00, or an IANA name such as Europe/Berlin',
      });
      return nothing;
    }
    const readers: TimeReader[] = [];
    for (const [index, format] of formats.entries()) {
      const reader = readerOf(format, zone);
      if (reader === undefined)
        place.at('formats', index).report('The format has letters that mean nothing.', {
          got: shown(format),
          allowed:
            'iso8601, unix, unix_ms, or yyyy yy MMM MM M dd d HH H hh h mm ss S a Z XXX and text in single quotes',
        });
      else readers.push(reader);
    }
    const read = plainReader(field);
    return {
      text: `read the time of ${field} into ${to}`,
      run: (target) => {
        const value = read(target.document);
        if (value === undefined) return;
        const text = textOf(value).trim();
        if (text.length > longestTime) return;
        for (const reader of readers) {
          const time = reader(text);
          if (time === undefined || !(time >= 0 && time < latest)) continue;
          target.set(to, new Date(time).toISOString());
          return;
        }
      },
    };
  },
});

function readerOf(format: string, zone: ZoneOffset): TimeReader | undefined {
  switch (format) {
    case 'unix':
      return (text) => (/^\d{1,12}(\.\d{1,9})?$/.test(text) ? Math.round(Number(text) * 1000) : undefined);
    case 'unix_ms':
      return (text) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);
    case 'iso8601':
      return isoReader(zone);
    default:
      return timeReader(format, zone);
  }
}

const iso = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?\s?(Z|[+-]\d{2}(?::?\d{2})?)?$/;

function isoReader(zone: ZoneOffset): TimeReader {
  return (text) => {
    const match = iso.exec(text);
    if (match === null) return undefined;
    const [, day, minutes = '00:00', seconds = '00', fraction = '', offset] = match;
    const wall = Date.parse(`${day}T${minutes}:${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}Z`);
    // Date.parse takes 30 February for 2 March.
    if (Number.isNaN(wall) || !new Date(wall).toISOString().startsWith(day as string)) return undefined;
    if (offset === undefined) return wall - zone(wall) * 60_000;
    const named = offset === 'Z' ? 0 : zoneOffset(offset.length === 3 ? `${offset}:00` : offset)?.(wall);
    return named === undefined ? undefined : wall - named * 60_000;
  };
}
