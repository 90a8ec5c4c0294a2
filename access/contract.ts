/** People, what they may do, and how they prove who they are. Built over the state store; the API asks it once per request. */
import type { Identity } from '../schemas/access.js';

/** What a request brought. */
export type Credentials =
  | { readonly kind: 'password'; readonly username: string; readonly password: string }
  | { readonly kind: 'session'; readonly sessionId: string }
  | { readonly kind: 'token'; readonly token: string };

export interface Session {
  /** Shown to its owner only once; the store knows its SHA-256. */
  readonly sessionId: string;
  readonly userId: string;
  readonly username: string;
  /** Milliseconds since the epoch; moves on with every use. */
  readonly validUntil: number;
}

export interface Access {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Rejects with ACCESS_DENIED (one answer for unknown names, wrong passwords and ended sessions), ACCESS_THROTTLED (with retryAfterMs) or ACCESS_DIRECTORY_UNAVAILABLE (retryable). */
  authenticate(credentials: Credentials, from: { readonly address: string }): Promise<Identity>;
  openSession(
    username: string,
    password: string,
    from: { readonly address: string; readonly host?: string | undefined },
  ): Promise<Session>;
  /** Resolves with the name of whose it was; with undefined for an unknown one. */
  closeSession(sessionId: string): Promise<string | undefined>;
}
