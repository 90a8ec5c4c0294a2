/**
 * The attackers' own process, so that their work is not done by the honest senders' event loop: told by messages what
 * to start and stop.
 */
import { randomFillSync } from 'node:crypto';
import { createRandom } from '../../../load/random.js';
import type { AttackContext, Target } from './contract.js';
import { attacks } from './registry.js';

export type Order =
  | { readonly start: string; readonly target: Target; readonly seed: number }
  | { readonly stop: string };
export interface Stopped {
  readonly stopped: string;
  readonly counts: Readonly<Record<string, number>>;
}

const running = new Map<
  string,
  { readonly ended: Promise<void>; readonly stop: AbortController; readonly counts: Record<string, number> }
>();

function start(name: string, target: Target, seed: number): void {
  const attack = attacks.find((candidate) => candidate.name === name);
  if (attack === undefined) throw new Error(`no attack ${name}`);
  const random = createRandom(seed);
  const counts: Record<string, number> = {};
  const stop = new AbortController();
  const context: AttackContext = {
    target,
    signal: stop.signal,
    random: (below) => random() % below,
    randomBytes: (length) => randomFillSync(Buffer.allocUnsafe(length)),
    count: (what, by = 1) => {
      counts[what] = (counts[what] ?? 0) + by;
    },
  };
  running.set(name, { ended: attack.run(context), stop, counts });
}

async function stop(name: string): Promise<void> {
  const found = running.get(name);
  running.delete(name);
  found?.stop.abort();
  await found?.ended;
  process.send?.({ stopped: name, counts: found?.counts ?? {} } satisfies Stopped);
}

process.on('message', (order: Order) => {
  if ('start' in order) start(order.start, order.target, order.seed);
  else void stop(order.stop);
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
