/** What the pipeline knows of a receiver. Its kinds are listed in `registry.ts`. */

export interface Receiver {
  /** The name from the settings; label of its metrics and field `receiver` of its documents. */
  readonly name: string;
  /** Binds. Rejects with RECEIVER_PORT_TAKEN, RECEIVER_ADDRESS_INVALID or RECEIVER_TLS_INVALID. */
  start(): Promise<void>;
  /** `gelf-tcp 0.0.0.0:12201 (TLS)`, as the terminal shows it; the port is the bound one. */
  address(): { readonly protocol: string; readonly host: string; readonly port: number; readonly tls: boolean };
  /** Takes no new input, waits until what was accepted is durable or the deadline (milliseconds) has passed. Safe twice and without start. */
  stop(deadlineMs: number): Promise<void>;
}
