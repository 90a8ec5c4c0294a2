/** What a load run is made of. */
import type { Generator } from './generator.js';
import type { LatencyHistogram, Percentiles } from './histogram.js';

export type Transport = 'tcp' | 'tls' | 'udp' | 'http';

export interface LoadOptions {
  /** Messages a second; 0: as fast as the target takes them. */
  readonly rate: number;
  /** Ends after this time, milliseconds. */
  readonly forMs: number;
  /** Ends after this many messages; undefined: by time only. */
  readonly count?: number | undefined;
  /** `mix`: TCP, UDP and HTTP at once, and TLS when it has a port. */
  readonly transport: Transport | 'mix';
  /** Connections (UDP: sockets) of each transport. */
  readonly connections: number;
  readonly host: string;
  readonly ports: Readonly<Partial<Record<Transport, number>>>;
  readonly seed: number;
  /** Average size of a message. */
  readonly bytes: number;
  /** Certificate authority of TLS targets, PEM; undefined: certificates are not verified, as this is test traffic. */
  readonly ca?: Buffer | undefined;
  /** Bearer token of the HTTP receiver. */
  readonly token?: string | undefined;
  /** How long what is under way at the end may take, milliseconds. Default: 10,000. */
  readonly drainMs?: number | undefined;
  /** Stops early, with a report. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
}

interface LoadProgress {
  readonly sent: number;
  readonly elapsedMs: number;
  /** Messages a second since the last progress. */
  readonly rate: number;
}

/** One ordered sequence of messages: a connection from its start to its end, numbered from 0. */
export interface Lane {
  readonly connection: number;
  readonly transport: Transport;
  sent: number;
}

/** What was sent; all that the verification needs to know. */
export interface LoadRun {
  readonly id: string;
  readonly lanes: readonly Lane[];
  readonly sent: number;
  readonly bytes: number;
  readonly elapsedMs: number;
  readonly stoppedEarly: boolean;
  /** Connections that broke and were opened again. */
  readonly reconnects: number;
  /** UDP datagrams the kernel refused, HTTP requests without an answer or with a refusal. */
  readonly failed: number;
  /** HTTP answers 429 and 503; the messages were sent again. */
  readonly pushedBack: number;
  /** TCP, TLS, UDP: until the kernel took the bytes. Milliseconds. */
  readonly write: Percentiles;
  /** HTTP: until the answer 202. Milliseconds. */
  readonly accept: Percentiles;
}

/** Shared by the senders of one run. */
export interface LoadContext {
  readonly options: LoadOptions;
  readonly generator: Generator;
  readonly write: LatencyHistogram;
  readonly accept: LatencyHistogram;
  readonly counts: { bytes: number; reconnects: number; failed: number; pushedBack: number };
  openLane(transport: Transport): Lane;
}

export interface Sender {
  /** Resolves when it can send; rejects with LOAD_TARGET_UNREACHABLE. */
  open(): Promise<void>;
  /** Hands over up to `count` messages and returns how many it took; 0 while the target holds it back. Never throws. */
  send(count: number, nowMs: number): number;
  /** Waits until all is out or the deadline (milliseconds) has passed. */
  close(deadlineMs: number): Promise<void>;
}
