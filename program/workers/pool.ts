/** The workers of this program: started together, each started again when it ends, stopped together. */
import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { workerErrors } from './errors.js';
import type { ProgramFacts, WorkerStart } from './contract.js';
import { createRestarts, type Restarts } from './restarts.js';
import { forkWorker, type WorkerEnd, type WorkerProcess } from './worker-process.js';
import { programEvents } from '../events.js';

/** A worker that overstays its deadline by this much is killed. */
const killAfterMs = 2_000;

interface PoolOptions {
  /** What each worker is told, by its place (1, 2, ...). */
  readonly startOf: (index: number) => WorkerStart;
  readonly count: number;
  readonly log: Log;
  readonly onRestart: (index: number) => void;
  /** A worker has ended; it may be started again. */
  readonly onEnd: (index: number) => void;
  /** The workers cannot be kept running. */
  readonly onFatal: (error: unknown) => void;
}

interface Place {
  readonly index: number;
  readonly restarts: Restarts;
  current: WorkerProcess | undefined;
  startedAt: number;
  ready: boolean;
  restartsMade: number;
}

export interface WorkerState {
  readonly worker: number;
  readonly pid: number | undefined;
  readonly ready: boolean;
  readonly restarts: number;
}

export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #places: readonly Place[];
  readonly #stopped = new AbortController();

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#places = Array.from({ length: options.count }, (_, at) => ({
      index: at + 1,
      restarts: createRestarts(),
      current: undefined,
      startedAt: 0,
      ready: false,
      restartsMade: 0,
    }));
  }

  /** Resolves with what each worker runs when all do; rejects with the first failure. */
  async start(): Promise<readonly ProgramFacts[]> {
    for (const place of this.#places) this.#fork(place);
    const facts = await Promise.all(this.#places.map((place) => (place.current as WorkerProcess).started));
    for (const place of this.#places) this.#watch(place);
    return facts;
  }

  states(): readonly WorkerState[] {
    return this.#places.map(({ index, current, ready, restartsMade }) => ({
      worker: index,
      pid: current?.pid,
      ready,
      restarts: restartsMade,
    }));
  }

  /** Safe twice. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopped.abort();
    const running = this.#places.flatMap(({ current }) => current ?? []);
    for (const worker of running) worker.stop(deadlineMs);
    const allEnded = Promise.all(running.map((worker) => worker.ended));
    await Promise.race([allEnded, sleep(deadlineMs + killAfterMs, undefined, { ref: false })]);
    this.kill();
    await allEnded;
  }

  kill(): void {
    for (const { current } of this.#places) current?.kill();
  }

  #fork(place: Place): void {
    const worker = forkWorker(this.#options.startOf(place.index));
    place.current = worker;
    place.startedAt = Date.now();
    worker.started.then(
      () => {
        place.ready = true;
      },
      () => undefined,
    );
    void worker.ended.then(() => {
      place.ready = false;
      place.current = undefined;
      this.#options.onEnd(place.index);
    });
  }

  /** Starts the worker of this place again, and again, until the pool stops or gives up. */
  #watch(place: Place): void {
    void this.#keepRunning(place).catch((error: unknown) => {
      if (!this.#stopped.signal.aborted) this.#options.onFatal(error);
    });
  }

  async #keepRunning(place: Place): Promise<void> {
    for (;;) {
      const end = await place.current?.ended;
      if (this.#stopped.signal.aborted) return;
      const delayMs = place.restarts.afterDeath(Date.now() - place.startedAt);
      this.#say(place, end, delayMs);
      if (delayMs === undefined)
        throw workerErrors.create('WORKERS_KEEP_DYING', {
          place: `worker ${place.index}`,
          got: end === undefined ? undefined : howEnded(end),
        });
      await sleep(delayMs, undefined, { signal: this.#stopped.signal, ref: false });
      this.#fork(place);
      place.restartsMade += 1;
      this.#options.onRestart(place.index);
    }
  }

  #say(place: Place, end: WorkerEnd | undefined, delayMs: number | undefined): void {
    const facts = {
      worker: place.index,
      ended: end === undefined ? undefined : howEnded(end),
      start_again_after_ms: delayMs,
    };
    programEvents.workerEnded(
      this.#options.log,
      facts,
      delayMs === undefined
        ? 'a worker ended again and again; giving up'
        : 'a worker ended; it is started again, and what it was at is delivered again',
    );
  }
}

function howEnded({ code, signal, failure }: WorkerEnd): string {
  if (failure !== undefined) return errorText(failure);
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}
