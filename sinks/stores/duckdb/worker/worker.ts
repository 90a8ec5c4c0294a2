/** Entry of the worker thread: calls by group and name go to the engine's methods. */
import { parentPort, workerData } from 'node:worker_threads';
import { Engine } from '../engine/engine.js';
import type { EngineAnswer, EngineCall, EngineNotice, EngineRequest, WorkerData } from './protocol.js';
import { toWire } from './wire-error.js';

const port = parentPort;
if (port === null) throw new Error('The embedded store runs in a worker thread only.');
const { options, halted, figures } = workerData as WorkerData;
const shown = new Float64Array(figures);
const cancels = new Map<number, AbortController>();
const engine = new Engine(options, {
  onHalted: () => {
    const flag = new Int32Array(halted);
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  },
  onRetained: (bytes) => {
    shown[0] = bytes;
  },
  words: {
    onBehind: (documents) => {
      shown[1] = documents;
    },
    onFailed: (wordsFailed) => tell({ wordsFailed }),
  },
});

async function answer(call: EngineCall): Promise<unknown> {
  const group = engine[call.group];
  const method: unknown = Reflect.get(group, call.method);
  if (typeof method !== 'function') throw new Error(`The engine has no method ${call.group}.${call.method}.`);
  if (!call.cancellable) return Reflect.apply(method, group, call.arguments);
  const [request, ...others] = call.arguments;
  const cancel = new AbortController();
  cancels.set(call.id, cancel);
  try {
    return await Reflect.apply(method, group, [{ ...(request as object), signal: cancel.signal }, ...others]);
  } finally {
    cancels.delete(call.id);
  }
}

port.on('message', (request: EngineRequest) => {
  if ('cancel' in request) {
    cancels.get(request.id)?.abort();
    return;
  }
  answer(request).then(
    (value) => tell({ id: request.id, ok: true, value }),
    (thrown: unknown) => tell({ id: request.id, ok: false, error: toWire(thrown) }),
  );
});

function tell(message: EngineAnswer | EngineNotice): void {
  port?.postMessage(message);
}
