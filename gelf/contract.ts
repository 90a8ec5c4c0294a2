/** What the pipeline and the receivers know of decoding. Its rules, field by field: docs/gelf.md. */
import type { LogDocument } from '../schemas/messages.js';

/** A sender's document, parsed and found acceptable. Opaque: only this folder looks inside. */
export interface ParsedMessage {
  readonly root: Readonly<Record<string, unknown>>;
  /** The text it was parsed from, when integers beyond 2^53 or duplicate work need it. */
  readonly text: string;
  /** Further JSON documents stood behind the first one in the frame and were left out. */
  readonly extraDocuments: boolean;
  /** So many fields (over a thousand) that each stage behind takes long for it; no sender of logs comes near. */
  readonly manyFields?: boolean;
}

export interface DecodeContext {
  readonly receiver: string;
  readonly peer: string;
  readonly receivedAt: number;
  readonly timestamp: 'sender' | 'received';
}

export interface Decoder {
  /**
   * The message, or the typed error (permanent) that says why it is not one. Never throws. Receivers call it to check,
   * the pipeline to decode.
   */
  parse(bytes: Buffer): ParsedMessage | { readonly error: import('../core/errors.js').SluiceError };
  /**
   * The flat document of design section 5: nothing lost, nothing renamed silently (what was changed is listed in
   * `adjustments`). Never throws.
   */
  toDocument(message: ParsedMessage, context: DecodeContext): LogDocument;
}

/** For what the rules changed in a message that is sent on. */
export { literalsOf } from './members.js';
export { fieldNameOf } from './names.js';
