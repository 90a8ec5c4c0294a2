/** Which state store the settings choose: beside the embedded index store LevelDB, beside OpenSearch an index of it. */
import { join } from 'node:path';
import type { Log } from '../core/log.js';
import type { Config } from '../schemas/config/config.js';
import type { StateStore } from './contract.js';
import { createLevelState } from './leveldb.js';
import { createOpenSearchState } from './opensearch.js';

interface Context {
  readonly log: Log;
}

type Kind = Config['store']['kind'];

const stateStores: Readonly<Record<Kind, (config: Config, context: Context) => StateStore>> = {
  embedded: (config, { log }) => createLevelState({ folder: join(config.data_folder, 'state'), log }),
  opensearch: (config, { log }) => {
    const {
      nodes,
      username,
      password,
      tls,
      request_timeout_ms: requestTimeoutMs,
      state_index: index,
    } = config.store.opensearch;
    return createOpenSearchState({ nodes, username, password, tls, requestTimeoutMs, index, log });
  },
};

export function createState(config: Config, context: Context): StateStore {
  return stateStores[config.store.kind](config, context);
}
