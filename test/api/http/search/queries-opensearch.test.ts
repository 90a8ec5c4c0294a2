import t from 'tap';
import { openSearchNode } from '../../../engines.js';
import { openStore } from '../../../sinks/stores/opensearch/open-store.js';
import { querySuite } from './query-suite.js';

if (openSearchNode() === undefined) t.pass('OpenSearch is left out: SLUICE_TEST_OPENSEARCH is not set');
else querySuite('opensearch', (test) => openStore(test));
