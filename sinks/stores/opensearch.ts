/** Index store on OpenSearch; its parts are in `opensearch/`. */
import type { IndexStore } from './contract.js';
import { OpenSearchStore, type OpenSearchStoreOptions } from './opensearch/store.js';

export type { OpenSearchStoreOptions };

export function createOpenSearchStore(options: OpenSearchStoreOptions): IndexStore {
  return new OpenSearchStore(options);
}
