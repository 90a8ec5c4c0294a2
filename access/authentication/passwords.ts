/** Passwords: argon2id, few at a time, and the rules for new ones. */
import { hash, verify } from '@node-rs/argon2';
import { randomInt } from 'node:crypto';
import { accessErrors } from '../errors.js';
import { keyOfName } from '../../core/names.js';

/** Longer ones are a mistake or an attack. */
const maxPasswordBytes = 1024;
/** Hashes that may wait: at 30 ms each, the last of them waits for a second. */
const maxWaiting = 64;
/** Basic authentication reads these as the mark of a session id and of a token. */
const reserved = new Set(['session', 'token']);
/** Parameters of the OWASP recommendation for argon2id. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
/** With the same parameters, of random bytes that nobody kept: what is verified for users that are not there. */
const decoy = '$argon2id$v=19$m=19456,t=2,p=1$Yb5oZyl6OCZe1HwSCt4Eiw$MO9P8tFMvzmhV8udrAHR7lj/e00oUqslOAKf5MmNRII';

export interface Passwords {
  hash(password: string): Promise<string>;
  /**
   * Takes as long without a hash, for a user that is not there. `first`: before those that wait, and in the place of
   * one of them when too many do. Rejects with ACCESS_BUSY.
   */
  verify(stored: string | undefined, password: string, first?: boolean): Promise<boolean>;
  /** Throws what is wrong with a new password. */
  check(username: string, password: string): void;
}

interface PasswordOptions {
  readonly concurrency: number;
  readonly minimumLength: number;
  readonly onHash?: (() => void) | undefined;
}

export function createPasswords({ concurrency, minimumLength, onHash }: PasswordOptions): Passwords {
  const inTurn = createTurns(concurrency);
  const work = <Result>(run: () => Promise<Result>, first = true): Promise<Result> =>
    inTurn(() => {
      onHash?.();
      return run();
    }, first);
  return {
    hash: (password) => work(() => hash(normal(password), parameters)),
    async verify(stored, password, first = false) {
      if (Buffer.byteLength(password) > maxPasswordBytes) return false;
      const matches = await work(() => verify(stored ?? decoy, normal(password)), first);
      return matches && stored !== undefined;
    },
    check(username, password) {
      const problem = (allowed: string) => accessErrors.create('ACCESS_PASSWORD_INVALID', { allowed });
      if (Array.from(password).length < minimumLength)
        throw problem(`at least ${minimumLength} characters (access.minimum_password_length)`);
      if (Buffer.byteLength(password) > maxPasswordBytes) throw problem(`at most ${maxPasswordBytes} bytes`);
      if (keyOfName(password) === keyOfName(username)) throw problem('not the name of the user');
      if (reserved.has(password))
        throw problem('not the words session and token, which Basic authentication reads otherwise');
    },
  };
}

/** The same letters, typed on another keyboard. */
function normal(password: string): string {
  return password.normalize('NFC');
}

/** 20 letters and digits without look-alikes: 115 random bits. */
export function randomPassword(): string {
  const letters = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
  return Array.from({ length: 20 }, () => letters[randomInt(letters.length)]).join('');
}

interface Waiting {
  readonly first: boolean;
  readonly go: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * Runs at most so many at a time, in order of coming but the first ones first; when too many wait, the last of the
 * others is refused.
 */
function createTurns(concurrency: number): <Result>(run: () => Promise<Result>, first: boolean) => Promise<Result> {
  const waiting: Waiting[] = [];
  let running = 0;
  const wait = (first: boolean): Promise<void> =>
    new Promise((go, refuse) => {
      const place = first ? waiting.findIndex((other) => !other.first) : -1;
      waiting.splice(place === -1 ? waiting.length : place, 0, { first, go, refuse });
      if (waiting.length > maxWaiting) waiting.pop()?.refuse(accessErrors.create('ACCESS_BUSY'));
    });
  return async (run, first) => {
    if (running >= concurrency) await wait(first);
    else running += 1;
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next.go();
    }
  };
}
