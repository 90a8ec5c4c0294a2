/** The kinds of index stores. A new one is one file and one line here. */
import type { Log } from '../../core/log.js';
import type { Registry } from '../../core/metrics.js';
import type { Config } from '../../schemas/config/config.js';
import type { IndexStore } from './contract.js';
import { createDuckStore } from './duckdb/store.js';
import { createOpenSearchStore } from './opensearch/store.js';

interface StoreContext {
  readonly registry: Registry;
  readonly log: Log;
  /** The store has ended by itself and will not answer any more: the program cannot go on. */
  readonly onLost?: (error: Error) => void;
}

type Kinds = { readonly [Kind in Config['store']['kind']]: (config: Config, context: StoreContext) => IndexStore };

const storeKinds: Kinds = {
  embedded: (config, context) => {
    const {
      memory_bytes: memoryBytes,
      threads,
      checkpoint_bytes: checkpointBytes,
      linger_ms: lingerMs,
      kept_bytes: retainedBytes,
      reserve_bytes: reserveBytes,
      index_words: indexWords,
    } = config.store.embedded;
    return createDuckStore({
      folder: config.data_folder,
      memoryBytes,
      threads,
      checkpointBytes,
      lingerMs,
      retainedBytes,
      reserveBytes,
      ...(indexWords ? {} : { words: { segmentRows: 0 } }),
      ...context,
    });
  },
  opensearch: (config, context) => {
    const {
      nodes,
      username,
      password,
      tls,
      request_timeout_ms: requestTimeoutMs,
      bulk_bytes: bulkBytes,
      bulks_in_flight: bulksInFlight,
    } = config.store.opensearch;
    return createOpenSearchStore({
      nodes,
      username,
      password,
      tls,
      requestTimeoutMs,
      bulkBytes,
      bulksInFlight,
      maxFields: config.store.max_fields,
      ...context,
    });
  },
};

export function createStore(config: Config, context: StoreContext): IndexStore {
  return storeKinds[config.store.kind](config, context);
}
