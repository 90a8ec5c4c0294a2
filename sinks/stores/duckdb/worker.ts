/** Entry of the worker thread. */
import { parentPort, workerData } from 'node:worker_threads';
import { Engine } from './engine.js';
import { toWire } from './failures.js';
import type { EngineAnswer, EngineNotice, EngineRequest, WorkerData } from './protocol.js';

const port = parentPort;
if (port === null) throw new Error('The embedded store runs in a worker thread only.');
const { options, halted, figures } = workerData as WorkerData;
const shown = new Float64Array(figures);
const engine = new Engine(options, {
  onKept: (bytes) => {
    shown[0] = bytes;
  },
  words: {
    onBehind: (documents) => {
      shown[1] = documents;
    },
    onFailed: (wordsFailed) => tell({ wordsFailed }),
  },
});

async function halt(): Promise<void> {
  await engine.halt();
  const flag = new Int32Array(halted);
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
}

async function answer(request: EngineRequest): Promise<unknown> {
  switch (request.method) {
    case 'start':
      return engine.start();
    case 'stop':
      return engine.stop();
    case 'halt':
      return halt();
    case 'createIndex':
      return engine.createIndex(request.argument);
    case 'listIndices':
      return engine.listIndices(request.argument);
    case 'write':
      return engine.write(request.argument);
    case 'read':
      return engine.read(request.argument.index, request.argument.ids);
    case 'update':
      return engine.update(request.argument.index, request.argument.updates);
    case 'checkpoint':
      return engine.checkpoint(request.argument);
    case 'markers':
      return engine.markers(request.argument.index, request.argument.topic, request.argument.topicGeneration);
    case 'fieldTypes':
      return engine.fieldTypes(request.argument);
    case 'closeIndex':
      return engine.closeIndex(request.argument);
    case 'openIndex':
      return engine.openIndex(request.argument);
    case 'deleteIndex':
      return engine.deleteIndex(request.argument);
    case 'search':
      return engine.search(request.id, request.argument);
    case 'openIndices':
      return engine.openIndices(request.argument);
    case 'aggregate':
      return engine.aggregate(request.id, request.argument);
    case 'occurringFields':
      return engine.occurringFields(request.id, request.argument);
    case 'scanRows':
      return engine.scanRows(request.argument);
    case 'scanPlaces':
      return engine.scanPlaces(request.id, request.argument);
    case 'scanDocuments':
      return engine.scanDocuments(request.id, request.argument);
    case 'scanIds':
      return engine.scanIds(request.argument.index, request.argument.fromRow);
    case 'health':
      return engine.health();
    case 'cancel':
      return engine.cancel(request.id);
  }
}

port.on('message', (request: EngineRequest) => {
  answer(request).then(
    (value) => reply(request, { id: request.id, ok: true, value }),
    (thrown: unknown) => reply(request, { id: request.id, ok: false, error: toWire(thrown) }),
  );
});

function tell(notice: EngineNotice): void {
  port?.postMessage(notice);
}

function reply(request: EngineRequest, message: EngineAnswer): void {
  if (request.method !== 'cancel') port?.postMessage(message);
}
