/**
 * SYSLOG messages from documents. Over TCP each is framed (RFC 6587): by its length in bytes and a space before it, or
 * by a newline behind it. Over UDP each is a datagram.
 */
import { at } from '../../../core/at.js';
import type { LogDocument } from '../../../schemas/messages.js';
import type { SyslogOutputSettings } from '../../../schemas/outputs/syslog.js';
import type { EncodeContext, Encoder } from '../contract.js';
import { nextOffsetOf, parcelEnd } from '../parcels.js';
import { createHeader, textOf, type Header } from './header.js';
import { createLineBuffer } from './line-buffer.js';
import { createStructuredData, type StructuredData } from './structured-data.js';
import { firstBytes, withoutControls } from './text.js';

const byteOrderMark = '\ufeff';
/** Room for the text of a message that is too long: structured data gives way. */
const leastTextBytes = 256;
/** ` [split@32473 part="9999" of="9999"]` */
const splitBytes = 40;
const parcelDatagrams = 64;

type SyslogMessages = (document: LogDocument) => readonly string[];

interface Parts {
  readonly header: Header;
  readonly structuredData: StructuredData;
  readonly settings: SyslogOutputSettings;
  readonly overLong: EncodeContext['overLong'];
}

/** A document's syslog messages, without frames: one, several where it is split, none where it is dropped. */
export function createSyslogMessages(
  settings: SyslogOutputSettings,
  overLong: EncodeContext['overLong'],
): SyslogMessages {
  const parts: Parts = {
    header: createHeader(settings),
    structuredData: createStructuredData(settings),
    settings,
    overLong,
  };
  const { max_bytes: maxBytes, message_field: messageField, byte_order_mark: marks } = settings;
  const separator = settings.format === 'rfc5424' ? ' ' : '';
  return (document) => {
    const head = parts.header(document);
    const data = parts.structuredData(document);
    const text = withoutControls(textOf(document, messageField));
    const mark = marks && /[^\0-\x7f]/.test(text) ? byteOrderMark : '';
    const message = `${head}${data}${separator}${mark}${text}`;
    if (message.length * 3 <= maxBytes || Buffer.byteLength(message) <= maxBytes) return [message];
    return tooLong(parts, { document, head, data, text, separator: separator + mark });
  };
}

interface LongMessage {
  readonly document: LogDocument;
  readonly head: string;
  readonly data: string;
  readonly text: string;
  readonly separator: string;
}

function tooLong(
  { structuredData, settings, overLong }: Parts,
  { document, head, data, text, separator }: LongMessage,
): readonly string[] {
  const { max_bytes: maxBytes, over_long: policy } = settings;
  if (policy === 'drop') {
    overLong('dropped', 1);
    return [];
  }
  const headBytes = Buffer.byteLength(head + separator);
  const room = maxBytes - headBytes;
  const fits = Buffer.byteLength(data) <= room - leastTextBytes - splitBytes;
  const kept =
    fits || data === ''
      ? data
      : structuredData(document, Math.max(0, room - Math.min(leastTextBytes, Math.floor(room / 2)) - splitBytes));
  const left = room - Buffer.byteLength(kept);
  if (policy === 'truncate') {
    overLong('truncated', 1);
    return [`${head}${kept}${separator}${firstBytes(text, left)}`];
  }
  overLong('split', 1);
  const pieces = splitText(text, left - splitBytes);
  const numbered = (number: number): string =>
    settings.format === 'rfc5424'
      ? `${kept === '-' ? '' : kept}[split@32473 part="${number}" of="${pieces.length}"]`
      : kept;
  return pieces.map((piece, at) => `${head}${numbered(at + 1)}${separator}${piece}`);
}

function splitText(text: string, maxBytes: number): string[] {
  const pieces: string[] = [];
  for (let rest = text; rest !== ''; ) {
    const piece = firstBytes(rest, maxBytes) || rest.slice(0, 2);
    pieces.push(piece);
    rest = rest.slice(piece.length);
  }
  return pieces.length === 0 ? [''] : pieces;
}

export function createSyslogStreamEncoder(settings: SyslogOutputSettings, context: EncodeContext): Encoder {
  const messagesOf = createSyslogMessages(settings, context.overLong);
  const lines = createLineBuffer();
  const add = settings.framing === 'octet_counting' ? lines.addCounted : lines.addEnded;
  return {
    encode(records, from) {
      const to = parcelEnd(records, from);
      let messages = 0;
      for (let index = from; index < to; index += 1) {
        const document = context.documentOf(at(records, index));
        const made = document === undefined ? [] : messagesOf(document);
        if (made.length > 0) messages += 1;
        for (const line of made) add(line);
      }
      const bytes = lines.take();
      return {
        to,
        parcel: {
          parts: bytes.length === 0 ? [] : [bytes],
          bytes: bytes.length,
          messages,
          nextOffset: nextOffsetOf(records, to),
        },
      };
    },
  };
}

export function createSyslogDatagramEncoder(settings: SyslogOutputSettings, context: EncodeContext): Encoder {
  const messagesOf = createSyslogMessages(settings, context.overLong);
  return {
    encode(records, from) {
      const to = parcelEnd(records, from, parcelDatagrams);
      const parts: Buffer[] = [];
      let messages = 0;
      for (let index = from; index < to; index += 1) {
        const document = context.documentOf(at(records, index));
        const lines = document === undefined ? [] : messagesOf(document);
        if (lines.length > 0) messages += 1;
        for (const line of lines) parts.push(Buffer.from(line));
      }
      return {
        to,
        parcel: {
          parts,
          bytes: parts.reduce((sum, part) => sum + part.length, 0),
          messages,
          nextOffset: nextOffsetOf(records, to),
        },
      };
    },
  };
}
