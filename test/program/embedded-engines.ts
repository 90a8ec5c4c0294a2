/** Embedded topics, state and store in one folder, and what a processor over them is made with. */
import { join } from 'node:path';
import { createRun, idPrefix, mintId } from '../../core/message-ids.js';
import { Registry } from '../../core/metrics.js';
import { createDecoder } from '../../gelf/decoder.js';
import type { Decoder } from '../../gelf/contract.js';
import type { IndexStore } from '../../sinks/stores/contract.js';
import { createDuckStore, type DuckStoreOptions } from '../../sinks/stores/duckdb/store.js';
import type { StateStore } from '../../state/contract.js';
import { createLevelState } from '../../state/leveldb.js';
import type { TopicLog } from '../../topics/contract.js';
import { createEmbeddedTopicLog } from '../../topics/embedded.js';
import { captureLog, type CapturedLog } from '../core/captured-log.js';

interface EmbeddedEngines extends CapturedLog {
  readonly registry: Registry;
  readonly topics: TopicLog;
  readonly state: StateStore;
  readonly store: IndexStore;
  /** Starts them, and makes the topics of one partition each. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Appends messages with these texts and this `_set`; returns their ids. */
  send(texts: readonly string[], set: string): Promise<readonly string[]>;
}

const logsTopic = 'logs';
const deadLettersTopic = 'dead-letters';
const largestRecordBytes = 2 ** 20;
let started = 0;

export function createEmbeddedEngines(folder: string, ofStore: Partial<DuckStoreOptions> = {}): EmbeddedEngines {
  const { log, logged } = captureLog();
  const registry = new Registry();
  const topics = createEmbeddedTopicLog({
    folder: join(folder, 'topics'),
    segmentBytes: 2 ** 24,
    reserveBytes: 0,
    log,
    registry,
  });
  const state = createLevelState({ folder: join(folder, 'state'), log });
  const store = createDuckStore({
    folder: join(folder, 'store'),
    memoryBytes: 2 ** 29,
    threads: 1,
    checkpointBytes: 2 ** 28,
    reserveBytes: 0,
    log,
    registry,
    ...ofStore,
  });
  const parts = [state, store, topics];
  // Two of one test, a millisecond apart, take different ids.
  const prefix = idPrefix(createRun(Date.now() + (started += 1)), 0);
  let sequence = 0;
  return {
    log,
    logged,
    registry,
    topics,
    state,
    store,
    async start() {
      for (const part of parts) await part.start();
      await topics.ensureTopics(
        [logsTopic, deadLettersTopic].map((name) => ({
          name,
          partitions: 1,
          retentionBytes: undefined,
          retentionMs: undefined,
          maxMessageBytes: largestRecordBytes,
        })),
      );
    },
    async stop() {
      for (const part of [...parts].reverse()) await part.stop(5_000);
    },
    async send(texts, set) {
      const records = texts.map((text) => {
        const value = Buffer.from(JSON.stringify({ version: '1.1', host: 'h', short_message: text, _set: set }));
        return { key: mintId(prefix, sequence++), value, timestamp: Date.now(), origin: 'test 127.0.0.1:1' };
      });
      await topics.append(logsTopic, 0, records);
      return records.map(({ key }) => key);
    },
  };
}

interface ProcessorSettings {
  readonly decoder: Decoder;
  readonly logsTopic: string;
  readonly deadLettersTopic: string;
  readonly largestRecordBytes: number;
  readonly largestMessage: () => number;
}

export const processorSettings = (): ProcessorSettings => ({
  decoder: createDecoder(),
  logsTopic,
  deadLettersTopic,
  largestRecordBytes,
  largestMessage: () => 8 * 2 ** 20,
});
