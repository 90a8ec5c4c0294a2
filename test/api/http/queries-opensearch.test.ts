import t from 'tap';
import { openSearchNode } from '../../engines.js';
import { openStore } from '../../sinks/stores/open-opensearch.js';
import { querySuite } from './query-suite.js';

if (openSearchNode() === undefined) t.pass('OpenSearch is left out: SLUICE_TEST_OPENSEARCH is not set');
else querySuite('opensearch', (test) => openStore(test));
