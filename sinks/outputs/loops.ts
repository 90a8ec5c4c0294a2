/**
 * Messages that come round again by way of other hosts. They leave without a mark, byte for byte, and come back as new
 * ones, so what tells them is that many different messages return several times each. Looks at a few of all: the same
 * ones at every return.
 */
import { hash } from 'node:crypto';
import type { LoopGuard } from './contract.js';
import { outputErrors } from './errors.js';

/** Returns of one message before it counts: a sender that sends again after a broken connection makes one. */
const returnsNeeded = 3;
/** Different messages that must have returned so often: a sender that repeats one text for ever is no loop. */
const messagesNeeded = 20;
/** Messages remembered, oldest forgotten first. */
const maxRemembered = 8_000;
/** What goes round does so in seconds; a file that is loaded anew each day is no loop. */
const withinMs = 10 * 60_000;
/** Of the cheap sums of all messages every so many-th is looked at. */
const oneOf = 16;

interface LoopWatch {
  /** True once what is sent is certainly going round. `id` tells a return from a second delivery. */
  sees(value: Buffer, id: string, now: number): boolean;
}

interface Seen {
  returns: number;
  lastId: string;
  readonly since: number;
}

export function createLoopWatch(every = oneOf): LoopWatch {
  const seen = new Map<string, Seen>();
  /**
   * One for ever: a fresh one would have to step over all that was forgotten since the table was last arranged,
   * thousands each time.
   */
  const oldestFirst = seen.keys();
  let returned = 0;

  const forget = (key: string, { returns }: Seen): void => {
    if (returns >= returnsNeeded) returned -= 1;
    seen.delete(key);
  };

  const forgetOldest = (): void => {
    const oldest = oldestFirst.next().value as string;
    forget(oldest, seen.get(oldest) as Seen);
  };

  return {
    sees(value, id, now) {
      if (sumOf(value) % every !== 0) return false;
      const key = hash('sha1', value, 'base64');
      let known = seen.get(key);
      if (known !== undefined && now - known.since > withinMs) {
        forget(key, known);
        known = undefined;
      }
      if (known === undefined) {
        seen.set(key, { returns: 0, lastId: id, since: now });
        if (seen.size > maxRemembered) forgetOldest();
        return false;
      }
      if (known.returns >= returnsNeeded || known.lastId === id) return false;
      known.lastId = id;
      known.returns += 1;
      if (known.returns === returnsNeeded) returned += 1;
      return returned >= messagesNeeded;
    },
  };
}

/** For what goes to this address. */
export function createLoopGuard(address: string): LoopGuard {
  const watch = createLoopWatch();
  return {
    check(records) {
      const now = Date.now();
      for (const { value, key } of records)
        if (watch.sees(value, key, now))
          throw outputErrors.create('OUTPUT_LOOP', {
            place: address,
            got: 'many messages that were sent before, for the third time and more',
            allowed: 'a destination that does not send back what it gets',
          });
    },
  };
}

/** The same for the same bytes, and cheap: the length and a few bytes spread over the message. */
function sumOf(value: Buffer): number {
  let sum = value.length;
  const step = Math.max(1, value.length >>> 5);
  for (let at = 0; at < value.length; at += step) sum = (sum * 31 + (value[at] ?? 0)) >>> 0;
  return (sum ^ (sum >>> 15)) >>> 0;
}
