/** Requests to the store's worker thread, and their answers. */
import { Worker } from 'node:worker_threads';
import { errorText } from '../../../core/errors.js';
import { fromWire, storeError } from './failures.js';
import type { EngineAnswer, EngineMethod, EngineMethods, EngineOptions } from './protocol.js';

/** A batch's parsed documents live for a few tens of milliseconds: room for two batches keeps them out of the old generation (a third less time, measured). */
const youngGenerationMiB = 96;

interface Waiting {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

export class WorkerClient {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #onLost: (reason: string) => void;
  #nextId = 1;
  #lost: string | undefined;
  #closing = false;

  constructor(options: EngineOptions, onLost: (reason: string) => void) {
    this.#onLost = onLost;
    this.#worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: options, resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMiB }, name: 'embedded store' });
    this.#worker.on('message', (answer: EngineAnswer) => this.#settle(answer));
    this.#worker.on('error', (thrown) => this.#end(errorText(thrown)));
    this.#worker.on('exit', (code) => this.#end(`the worker thread ended with code ${code}`));
  }

  /** Undefined while the worker runs. */
  get lost(): string | undefined {
    return this.#lost;
  }

  call<Method extends EngineMethod>(method: Method, argument: EngineMethods[Method]['argument'], signal?: AbortSignal): Promise<EngineMethods[Method]['value']> {
    if (this.#lost !== undefined) return Promise.reject(storeError(this.#closing ? 'STORE_STOPPED' : 'STORE_UNAVAILABLE', 'embedded store', this.#lost));
    const id = this.#nextId;
    this.#nextId += 1;
    const cancel = () => this.#worker.postMessage({ id, method: 'cancel', argument: undefined });
    const answer = new Promise<EngineMethods[Method]['value']>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, method, argument });
    });
    if (signal === undefined) return answer;
    signal.addEventListener('abort', cancel, { once: true });
    return answer.finally(() => signal.removeEventListener('abort', cancel));
  }

  async close(): Promise<void> {
    this.#closing = true;
    await this.#worker.terminate();
  }

  #settle(answer: EngineAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (answer.ok) waiting?.resolve(answer.value as never);
    else waiting?.reject(fromWire(answer.error));
  }

  #end(reason: string): void {
    if (this.#lost !== undefined) return;
    this.#lost = reason;
    for (const waiting of this.#waiting.values()) waiting.reject(storeError('STORE_UNAVAILABLE', 'embedded store', reason));
    this.#waiting.clear();
    if (!this.#closing) this.#onLost(reason);
  }
}
