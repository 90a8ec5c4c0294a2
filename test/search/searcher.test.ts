import { openStore } from '../sinks/stores/duckdb/support/open-store.js';
import { searcherSuite } from './searcher-suite.js';

searcherSuite('embedded', (test) => openStore(test));
