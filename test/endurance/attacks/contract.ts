/**
 * Hostile senders. Each runs until it is stopped; what it did is counted, so that the program's own counts can be
 * compared.
 */
export interface Target {
  readonly tcp: number;
  readonly udp: number;
  readonly http: number;
  /** A receiver with TLS, where there is one. */
  readonly tls: number | undefined;
}

export interface AttackContext {
  readonly target: Target;
  /** From 0 up to this, without it. */
  readonly random: (below: number) => number;
  readonly randomBytes: (length: number) => Buffer;
  readonly count: (what: string, by?: number) => void;
  readonly signal: AbortSignal;
}

export interface Attack {
  readonly name: string;
  /** What it is meant to break. */
  readonly aim: string;
  /** True: begins with the first of the others and goes on beside them, because it works by lasting. */
  readonly lasts: boolean;
  /** Resolves when the signal is aborted and everything it had opened is closed. */
  readonly run: (context: AttackContext) => Promise<void>;
}

/** Attackers come from an address of their own, as they do in a network. */
export const attackerAddress = '127.0.0.66';

export function every(milliseconds: number, signal: AbortSignal, turn: () => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(turn, milliseconds);
    const end = (): void => {
      clearInterval(timer);
      resolve();
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
