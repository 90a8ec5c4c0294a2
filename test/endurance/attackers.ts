/**
 * Starts the attackers' process, at the lowest priority: in a network they would not take the receiver's processor time
 * for their own work.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import type { Target } from './attacks/contract.js';
import type { Order, Stopped } from './attacks/process.js';
import type { Scope } from './scope.js';

export interface Attackers {
  start(name: string): void;
  /** What it counted. */
  stop(name: string): Promise<Stopped['counts']>;
}

export async function createAttackers(
  scope: Pick<Scope, 'teardown'>,
  target: Target,
  seed: number,
): Promise<Attackers> {
  const child = fork(join(import.meta.dirname, 'attacks', 'process.js'), {
    execArgv: [],
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(NODE_OPTIONS$|_?TAP)/.test(name))),
  });
  const ended = once(child, 'exit');
  scope.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await once(child, 'message');
  setPriority(child.pid as number, constants.priority.PRIORITY_LOW);
  const waiting = new Map<string, (counts: Stopped['counts']) => void>();
  child.on('message', (told: Stopped) => {
    waiting.get(told.stopped)?.(told.counts);
    waiting.delete(told.stopped);
  });
  return {
    start: (name) => {
      child.send({ start: name, target, seed } satisfies Order);
    },
    stop: (name) =>
      new Promise((resolve) => {
        waiting.set(name, resolve);
        child.send({ stop: name } satisfies Order);
      }),
  };
}
