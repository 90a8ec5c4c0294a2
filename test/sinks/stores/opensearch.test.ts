import t from 'tap';
import { openSearchNode } from '../../engines.js';
import { storeContract } from './contract/contract.js';
import { openStore } from './opensearch/open-store.js';

if (openSearchNode() === undefined) t.pass('OpenSearch is left out: SLUICE_TEST_OPENSEARCH is not set');
else storeContract({ name: 'opensearch', storesUnfitted: false, open: (test) => openStore(test) });
