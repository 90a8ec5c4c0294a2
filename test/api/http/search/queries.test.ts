import { openStore } from '../../../sinks/stores/duckdb/support/open-store.js';
import { querySuite } from './query-suite.js';

querySuite('embedded', (test) => openStore(test));
