/**
 * One load run as a process of its own: options as JSON in the first argument, the run as one JSON line on standard
 * output.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LoadOptions, LoadRun } from '../../load/contract.js';
import { runLoad } from '../../load/run.js';
import { node } from '../program.js';
import type { Scope } from './scope.js';
import type { StalledRun } from './stall-process.js';

type ChildLoad = Pick<LoadOptions, 'rate' | 'forMs' | 'transport' | 'connections' | 'ports'> &
  Partial<Pick<LoadOptions, 'count' | 'bytes' | 'host'>>;

/**
 * Rejects when the child fails; it is killed with the scope, and ends early, with what it sent, when the signal says
 * so.
 */
export function loadInChild(scope: Pick<Scope, 'teardown'>, load: ChildLoad, signal?: AbortSignal): Promise<LoadRun> {
  return runChild(scope, join(import.meta.dirname, 'load-process.js'), [JSON.stringify(load)], signal).then(
    (text) => JSON.parse(text) as LoadRun,
  );
}

/** Plain datagrams of 420 bytes at a rate, from the bench's sender. Resolves with how many the kernel took. */
export function datagramsInChild(
  scope: Pick<Scope, 'teardown'>,
  port: number,
  messages: number,
  rate: number,
): Promise<number> {
  return runChild(scope, join(import.meta.dirname, '..', '..', 'bench', 'send.js'), [
    'udp',
    String(port),
    String(messages),
    String(rate),
  ]).then(Number);
}

/**
 * TCP senders that are held back when the receiver does not read, with what they offered, what they could write, and
 * how long they waited.
 */
export function stalledInChild(
  scope: Pick<Scope, 'teardown'>,
  port: number,
  connections: number,
  rate: number,
  forMs: number,
): Promise<StalledRun> {
  return runChild(
    scope,
    join(import.meta.dirname, 'stall-process.js'),
    [port, connections, rate, forMs].map(String),
  ).then((text) => JSON.parse(text) as StalledRun);
}

function runChild(
  scope: Pick<Scope, 'teardown'>,
  file: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  const [command, ...leading] = node;
  const child = spawn(command, [...leading, file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  scope.teardown(() => {
    child.kill('SIGKILL');
  });
  signal?.addEventListener(
    'abort',
    () => {
      child.kill('SIGTERM');
    },
    { once: true },
  );
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  return new Promise((resolve, reject) => {
    child.once('exit', (code, signal) => {
      if (code === 0) resolve(text);
      else reject(new Error(`a sender ended with ${code ?? signal}`));
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.on(signal, () => {
      stopping.abort();
    });
  const run = await runLoad({
    host: '127.0.0.1',
    seed: 1,
    bytes: 420,
    signal: stopping.signal,
    ...(JSON.parse(process.argv[2] ?? '{}') as ChildLoad),
  });
  process.stdout.write(JSON.stringify(run));
}
