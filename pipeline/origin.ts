/** The header `origin` of a record: which receiver took the message, and from whom. */
import type { DecodeContext } from '../gelf/contract.js';
import type { TopicRecord } from '../topics/contract.js';

interface Origin {
  readonly receiver: string;
  readonly peer: string;
}

export const originText = ({ receiver, peer }: Origin): string => `${receiver} ${peer}`;

/** The last space joins the two: a receiver's name may hold spaces. */
export function parseOrigin(text: string): Origin {
  const space = text.lastIndexOf(' ');
  return space < 0 ? { receiver: text, peer: '' } : { receiver: text.slice(0, space), peer: text.slice(space + 1) };
}

/** The setting `timestamp` of a receiver. */
export type TimestampOf = (receiver: string) => DecodeContext['timestamp'];

/** What the decoder is told of each record. Neighbours mostly share their origin, so it is parsed once for them. */
export class DecodeContexts {
  readonly #timestampOf: TimestampOf;
  #text = '';
  #origin = parseOrigin('');
  #timestamp: DecodeContext['timestamp'];

  constructor(timestampOf: TimestampOf) {
    this.#timestampOf = timestampOf;
    this.#timestamp = timestampOf('');
  }

  of(record: TopicRecord): DecodeContext {
    if (record.origin !== this.#text) {
      this.#text = record.origin;
      this.#origin = parseOrigin(record.origin);
      this.#timestamp = this.#timestampOf(this.#origin.receiver);
    }
    // Written out: a spread with fields behind it costs V8 about as much as all of the decoding.
    return {
      receiver: this.#origin.receiver,
      peer: this.#origin.peer,
      receivedAt: record.timestamp,
      timestamp: this.#timestamp,
    };
  }
}
