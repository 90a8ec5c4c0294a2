/** The shapes that travel between the stages. */

export type FieldValue = string | number | boolean;

/**
 * One log message as a flat document. Rules may change it; after routing it is read-only. Field names are as in
 * design section 11: `source`, `message`, `full_message`, `timestamp`, `level`, `facility`, additional fields without
 * their first underscore, and Sluice's own: `receive_time`, `receiver`, `peer_address`, `streams`, `rule_set_version`,
 * `adjustments`. Times are ISO 8601 UTC with milliseconds. `streams` and `adjustments` are the only lists.
 * A field that a rule removed may stay as a key with the value undefined, which means that it is absent; JSON leaves it
 * out.
 */
export type LogDocument = Record<string, FieldValue | readonly string[]>;

/** Names that only Sluice sets: a sender's field of that name is kept as `sender_<name>`. */
export const ownFields = [
  'receive_time',
  'receiver',
  'peer_address',
  'streams',
  'rule_set_version',
  'adjustments',
  'other_fields',
  '_id',
  '_index',
] as const;

/**
 * A batch of framed, inflated and checked messages on its way to a topic. All of one batch came from one read of one
 * receiver. `values[i]` is the sender's JSON, byte for byte, and may be a view into a larger read buffer: whoever keeps
 * it after `push` resolves copies it.
 */
export interface MessageBatch {
  readonly receiver: string;
  /** Messages of one lane (a TCP connection, an HTTP request) keep their order; undefined: no order (UDP). */
  readonly lane: number | undefined;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly values: readonly Buffer[];
  /** `peers[i]` sent `values[i]`; one string when all came from the same. `address:port`, IPv6 in brackets. */
  readonly peers: string | readonly string[];
  /** Sum of the lengths of values. */
  readonly bytes: number;
  /** The sender is answered when it is durable. */
  readonly answered?: boolean;
}

/** Input that could not become a message. It goes to the topic `dead-letters` with its raw bytes. */
export interface Refusal {
  readonly receiver: string;
  readonly peer: string;
  readonly receivedAt: number;
  /** Stable error code, for example `DECODE_JSON_INVALID`. */
  readonly code: string;
  /** One sentence for a person. */
  readonly reason: string;
  /** Head of the raw bytes as they came, before inflation; at most 64 KiB. */
  readonly raw: Buffer;
  /** Length of all the raw bytes, where `raw` is only their head. */
  readonly rawLength: number;
}

/** What receivers hand their input to. The pipeline implements it. */
export interface MessageSink {
  /** Resolves when every message of the batch is durable in the topic; rejects only when the pipeline has stopped. */
  push(batch: MessageBatch): Promise<void>;
  /** Resolves when the refusals are durable among the dead letters. */
  refuse(refusals: readonly Refusal[]): Promise<void>;
  /** Told of each UDP message that its receiver dropped because the pipeline was full. */
  shed?(receiver: string, peer: string): void;
  /**
   * True while the bytes that wait for the topic exceed the bound: UDP sheds, HTTP answers 429, TCP has stopped
   * reading.
   */
  full(): boolean;
}

/** The value of a record in the topic `dead-letters`, as JSON. */
export interface DeadLetter {
  readonly code: string;
  readonly reason: string;
  readonly receiver: string;
  readonly peer: string;
  /** ISO 8601. */
  readonly receive_time: string;
  /** Index set that refused the document; absent for input that never became a message. */
  readonly index_set?: string;
  /** Concrete index of the message's epoch. */
  readonly index?: string;
  /** `topic/generation/partition/offset` of the record that this came from; absent for input that never became one. */
  readonly origin?: string;
  /**
   * Where its replay stands: `open`, `targeted`, `replayed` or `dropped`; the document in the index goes on from here.
   */
  readonly state: 'open';
  /** Replays that failed. */
  readonly replays: number;
  /** The raw bytes: text when they are valid UTF-8, else base64 in `raw_base64`. */
  readonly raw?: string;
  readonly raw_base64?: string;
  readonly raw_length: number;
  readonly raw_sha256: string;
}
