/** One worker as the primary process sees it: forked, told what to run, watched until it ends. */
import cluster, { type Worker } from 'node:cluster';
import { toldError } from '../../core/process/told-error.js';
import type { FromWorker, ProgramFacts, ToWorker, WorkerStart } from './contract.js';

export interface WorkerProcess {
  readonly pid: number;
  /** Resolves when it receives and processes; rejects with what it said when it could not start. */
  readonly started: Promise<ProgramFacts>;
  /** Resolves with how it ended. Never rejects. */
  readonly ended: Promise<WorkerEnd>;
  stop(deadlineMs: number): void;
  kill(): void;
}

export interface WorkerEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** What it said before, when it could not start or go on. */
  readonly failure: Error | undefined;
}

/**
 * libuv's: a worker that accepted a connection pauses before the next one, so that a burst is not taken by the first
 * that wakes up.
 */
const sharing = { UV_TCP_SINGLE_ACCEPT: '1' };

export function forkWorker(start: WorkerStart): WorkerProcess {
  const worker = cluster.fork(sharing);
  let failure: Error | undefined;
  const ended = new Promise<WorkerEnd>((resolve) =>
    worker.once('exit', (code: number | null, signal: NodeJS.Signals | null) => resolve({ code, signal, failure })),
  );
  const started = new Promise<ProgramFacts>((resolve, reject) => {
    worker.on('message', (message: FromWorker) => {
      if (message.type === 'online') tell(worker, start);
      else if (message.type === 'ready') resolve(message.facts);
      else {
        failure = toldError(message.error);
        reject(failure);
      }
    });
    void ended.then(({ code, signal }) =>
      reject(failure ?? new Error(`worker ${start.index} ended while it started (${signal ?? `exit code ${code}`})`)),
    );
  });
  started.catch(() => undefined);
  worker.on('error', () => undefined);
  return {
    pid: worker.process.pid ?? 0,
    started,
    ended,
    stop: (deadlineMs) => tell(worker, { type: 'stop', deadlineMs }),
    kill: () => void worker.process.kill('SIGKILL'),
  };
}

/** One that has just ended cannot be told anything; `ended` says so. */
function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => undefined);
}
