/** Requests to the store's worker thread, and their answers. */
import { withinDeadline } from '../../../../core/time/deadline.js';
import { Worker } from 'node:worker_threads';
import { holdYoungGenerationStill } from '../../../../core/process/young-generation.js';
import { errorText } from '../../../../core/errors.js';
import { storeError } from '../failures.js';
import type { WordFailure } from '../words/options.js';
import type { EngineAnswer, EngineCall, EngineGroups, EngineNotice, EngineRequest, WorkerData } from './protocol.js';
import { fromWire } from './wire-error.js';
import type { EngineOptions } from '../engine/contract.js';

/**
 * A batch's parsed documents live for a few tens of milliseconds: room for two batches keeps them out of the old
 * generation (a third less time, measured).
 */
const youngGenerationMiB = 96;

/** A commit with its checkpoint takes a second or two; searches are interrupted. */
const haltMs = 5000;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface EngineEvents {
  readonly onLost: (reason: string) => void;
  readonly onWordsFailed: (failure: WordFailure) => void;
}

export class WorkerClient {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #told: EngineEvents;
  #nextId = 1;
  #lost: string | undefined;
  #closing = false;
  readonly #halted = new SharedArrayBuffer(4);
  readonly #figures = new SharedArrayBuffer(16);
  /** The worker goes on while this thread waits here. */
  readonly #onExit = (): void => {
    if (this.#lost !== undefined) return;
    this.#post({ id: 0, group: 'control', method: 'halt', arguments: [], cancellable: false });
    Atomics.wait(new Int32Array(this.#halted), 0, 0, haltMs);
  };

  constructor(options: EngineOptions, told: EngineEvents) {
    this.#told = told;
    const workerData: WorkerData = { options, halted: this.#halted, figures: this.#figures };
    this.#worker = new Worker(new URL('./worker.js', import.meta.url), {
      workerData,
      resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMiB },
      name: 'embedded store',
    });
    this.#worker.once('online', holdYoungGenerationStill);
    this.#worker.on('message', (message: EngineAnswer | EngineNotice) => {
      if ('wordsFailed' in message) told.onWordsFailed(message.wordsFailed);
      else this.#settle(message);
    });
    this.#worker.on('error', (thrown) => this.#end(errorText(thrown)));
    this.#worker.on('exit', (code) => this.#end(`the worker thread ended with code ${code}`));
    process.once('exit', this.#onExit);
  }

  /** Undefined while the worker runs. */
  get lost(): string | undefined {
    return this.#lost;
  }

  /** What searches have left for those that come next. */
  get retainedBytes(): number {
    return new Float64Array(this.#figures)[0] ?? 0;
  }

  /** Documents whose words are not known yet. */
  get wordsBehind(): number {
    return new Float64Array(this.#figures)[1] ?? 0;
  }

  /** Calls a method of the engine. A request as first argument may have a signal. */
  async call(group: keyof EngineGroups, method: string, given: readonly unknown[]): Promise<unknown> {
    if (this.#lost !== undefined)
      throw storeError(this.#closing ? 'STORE_STOPPED' : 'STORE_UNAVAILABLE', 'embedded store', this.#lost);
    const id = this.#nextId;
    this.#nextId += 1;
    const { signal, sent } = withoutSignal(given);
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#post({ id, group, method, arguments: sent, cancellable: signal !== undefined });
    });
    if (signal === undefined) return answer;
    const cancel = () => this.#post({ id, cancel: true });
    signal.addEventListener('abort', cancel, { once: true });
    return answer.finally(() => signal.removeEventListener('abort', cancel));
  }

  #post(request: EngineRequest): void {
    this.#worker.postMessage(request);
  }

  /** Ends the thread. One that does not come to rest is left to the end of the process. */
  async close(): Promise<void> {
    this.#closing = true;
    if (this.#lost === undefined && !(await withinDeadline(this.call('control', 'halt', []), haltMs))) {
      this.#worker.unref();
      return;
    }
    process.removeListener('exit', this.#onExit);
    await this.#worker.terminate();
  }

  #settle(answer: EngineAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (answer.ok) waiting?.resolve(answer.value);
    else waiting?.reject(fromWire(answer.error));
  }

  #end(reason: string): void {
    if (this.#lost !== undefined) return;
    this.#lost = reason;
    for (const waiting of this.#waiting.values())
      waiting.reject(storeError('STORE_UNAVAILABLE', 'embedded store', reason));
    this.#waiting.clear();
    if (!this.#closing) this.#told.onLost(reason);
  }
}

/** A signal does not travel between threads. */
function withoutSignal(given: readonly unknown[]): {
  readonly signal: AbortSignal | undefined;
  readonly sent: EngineCall['arguments'];
} {
  const [request, ...others] = given;
  if (typeof request !== 'object' || request === null || !('signal' in request))
    return { signal: undefined, sent: given };
  const { signal, ...rest } = request;
  return signal instanceof AbortSignal
    ? { signal, sent: [rest, ...others] }
    : { signal: undefined, sent: [rest, ...others] };
}
