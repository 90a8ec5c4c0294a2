/**
 * An output in three parts. An encoder makes parcels of messages, without I/O. A link knows how to connect to one
 * destination and to put a parcel on the wire. The sender between them keeps what is not yet confirmed and sends it
 * again when a connection breaks.
 */
import type { Log } from '../../core/log.js';
import type { LogDocument } from '../../schemas/messages.js';

/** A message as it waits in the output's topic: GELF, as it came or as the rules changed it. */
export interface OutputRecord {
  readonly offset: number;
  readonly key: string;
  readonly value: Buffer;
  /** Receive time, milliseconds since the epoch. */
  readonly timestamp: number;
  readonly origin: string;
}

/** What goes out in one write; never part of a message's frame. */
export interface Parcel {
  /** Stream: one buffer with all frames. Datagrams: one each. HTTP: one message each. */
  readonly parts: readonly Buffer[];
  readonly bytes: number;
  /** Messages in it, those left out by a setting not counted. */
  readonly messages: number;
  /** What is confirmed when this is: the offset after the last message of the parcel. */
  readonly nextOffset: number;
}

/** Over-long messages by what became of them. */
type OverLong = 'truncated' | 'split' | 'dropped';

export interface Encoder {
  /**
   * One parcel from `records[from]` on; `to` is the first record that is not in it. Counts over-long messages through
   * its context.
   */
  encode(records: readonly OutputRecord[], from: number): { readonly parcel: Parcel; readonly to: number };
}

export interface EncodeContext {
  /** The message as a document; undefined when it cannot be decoded. */
  readonly documentOf: (record: OutputRecord) => LogDocument | undefined;
  readonly overLong: (kind: OverLong, messages: number) => void;
}

export interface Connection {
  /**
   * Resolves when the system has taken the parcel (HTTP: when the destination has answered). Rejects when the
   * connection is of no use any more.
   */
  write(parcel: Parcel): Promise<WriteAnswer>;
  /** Bytes written that the other side's system has not acknowledged yet; undefined where nobody can tell. */
  unacknowledged(): number | undefined;
  /**
   * Since when the other side's program reads nothing while its system is there, milliseconds since the epoch;
   * undefined: it reads, or nobody can tell.
   */
  hangsSince?(): number | undefined;
  /** Resolves with the reason when the connection is of no use any more. */
  readonly broken: Promise<Error>;
  /** Ends in order: resolves true when the other side has proven that it read everything. */
  finish(deadlineMs: number): Promise<boolean>;
  destroy(): void;
}

/** `answered`: the destination itself confirmed; `refused`: messages that it will never take. */
export type WriteAnswer =
  | { readonly answered: false }
  | { readonly answered: true; readonly refused: number; readonly reason: string | undefined };

export interface Link {
  /** For people: `gelf tcp siem:12201`. */
  readonly address: string;
  /** One attempt. Rejects with a typed error. */
  connect(signal: AbortSignal): Promise<Connection>;
}

export interface OutputState {
  readonly state: 'idle' | 'connecting' | 'connected' | 'waiting' | 'stopped';
  readonly address: string;
  readonly lastError: string | undefined;
  readonly lastErrorAt: number | undefined;
  /** Sent and not yet confirmed. */
  readonly unconfirmedMessages: number;
  readonly unconfirmedBytes: number;
}

export interface SenderOptions {
  readonly link: Link;
  readonly confirmAfterMs: number;
  readonly unconfirmedBytes: number;
  readonly idleTimeoutMs: number;
  readonly retryMostMs: number;
  readonly log: Log;
  readonly onConfirmed: (nextOffset: number, messages: number, refused: number) => void;
  /** A connection attempt or a connection failed. */
  readonly onFailed: () => void;
  /** It cannot go on with these settings. */
  readonly onStopped: (error: Error) => void;
}

/** Brings parcels to one destination in order, at least once. */
export interface OutputSender {
  start(): void;
  state(): OutputState;
  /**
   * Resolves when the parcel is in the window, with false when it was dropped meanwhile; rejects when the sender stops
   * before.
   */
  send(parcel: Parcel): Promise<boolean>;
  /**
   * Takes parcels out of the window that end at or below the offset and were not written, and takes no such ones any
   * more. Tells how many messages.
   */
  drop(below: number): number;
  /** Ends the connection in order, so that as much as possible is confirmed. Safe twice and without start. */
  stop(deadlineMs: number): Promise<void>;
}

/** Looks for messages that come round again by way of other hosts. */
export interface LoopGuard {
  /** Throws OUTPUT_LOOP once what is sent is certainly going round. */
  check(records: readonly OutputRecord[]): void;
}

/** What it takes to send to one destination. */
export interface OutputSending {
  readonly encoder: Encoder;
  readonly link: Link;
  readonly loopGuard: LoopGuard;
  readonly createSender: (options: SenderOptions) => OutputSender;
}
