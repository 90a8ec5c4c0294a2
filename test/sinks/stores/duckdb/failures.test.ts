import t from 'tap';
import { isFatal, searchError, writeError } from '../../../../sinks/stores/duckdb/failures.js';

const rows: readonly (readonly [message: string, ofWrite: string, ofSearch: string, fatal?: boolean])[] = [
  ['FATAL Error: Failed: database has been invalidated', 'STORE_UNAVAILABLE', 'STORE_UNAVAILABLE', true],
  ['Out of Memory Error: could not allocate block', 'STORE_OVERLOADED', 'STORE_OVERLOADED'],
  ['failed to pin block of size 256.0 KiB', 'STORE_OVERLOADED', 'STORE_OVERLOADED'],
  ['write failed: No space left on device', 'STORE_DISK_FULL', 'STORE_QUERY_INVALID'],
  ['IO Error: Could not read file', 'STORE_INDEX_BLOCKED', 'STORE_UNAVAILABLE'],
  ['INTERRUPT Error: Interrupted!', 'STORE_INDEX_BLOCKED', 'STORE_UNAVAILABLE'],
  ['Binder Error: column "x" not found', 'STORE_INDEX_BLOCKED', 'STORE_QUERY_INVALID'],
];

for (const [message, ofWrite, ofSearch, fatal = false] of rows)
  t.test(message, async (t) => {
    t.match(writeError(new Error(message), 'set_0'), { code: ofWrite });
    t.match(searchError(new Error(message)), { code: ofSearch });
    t.equal(isFatal(new Error(message)), fatal);
  });
