/** What the program knows of a receiver, and what it gives to one. Its kinds are listed in `registry.ts`. */
import type { SluiceError } from '../core/errors.js';

/** Whether bytes are an acceptable message. What they say is not looked at here. */
export interface MessageChecker {
  /** Never throws. */
  parse(bytes: Buffer): AcceptableMessage | { readonly error: SluiceError };
}

interface AcceptableMessage {
  /** Further JSON documents stood behind the first one. */
  readonly extraDocuments: boolean;
  /** So many fields that each stage behind takes long for it. */
  readonly manyFields?: boolean;
}

export interface ReceiverAddress {
  readonly protocol: string;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

export interface Receiver {
  /** The name from the settings; label of its metrics and field `receiver` of its documents. */
  readonly name: string;
  /** Binds. Rejects with RECEIVER_PORT_TAKEN, RECEIVER_ADDRESS_INVALID or RECEIVER_TLS_INVALID. */
  start(): Promise<void>;
  /** `gelf-tcp 0.0.0.0:12201 (TLS)`, as the terminal shows it; the port is the bound one. */
  address(): ReceiverAddress;
  /**
   * Takes no new input, waits until what was accepted is durable or the deadline (milliseconds) has passed. Safe twice
   * and without start.
   */
  stop(deadlineMs: number): Promise<void>;
}
