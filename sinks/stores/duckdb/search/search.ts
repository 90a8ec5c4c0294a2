/** Runs one search over several index files and merges what they find. */
import type { SearchRequest, SearchResult } from '../../../../schemas/query.js';
import { isWorthRetaining } from '../sql/condition-sql.js';
import { countRows } from './count-rows.js';
import { fetchHits } from './fetch-hits.js';
import { countMatches, findFirst, findNearest, newestFirst, positionOf, type OrderedSearch } from './find-first.js';
import { compareFound, type Found, type Matches, type SearchedIndex } from './found.js';
import { findInLease } from './leased-rows.js';
import type { Reading } from './reading.js';

/** More than these are sorted by the engine. */
const mostRetained = 2000;

type EngineSearch = OrderedSearch & Pick<SearchRequest, 'count'>;

export async function searchIndices(reading: Reading, request: SearchRequest): Promise<SearchResult> {
  const { connection, indices, skipped } = reading;
  let total = 0;
  let found: Found[] = [];
  const ordered = { ...request, sort: request.sort ?? newestFirst };
  for (const index of indices) {
    if (index.file.documents === 0) continue;
    const matches = await findMatches(reading, index, ordered);
    total += matches.count;
    found = found.concat(matches.first);
    found.sort(compareFound(ordered.sort.direction));
    found.length = Math.min(found.length, request.limit);
  }
  const last = found.at(-1);
  return {
    total: request.count === false ? found.length : total,
    hits: await fetchHits(connection, found, request.fields),
    skipped,
    next: last === undefined ? undefined : positionOf(last, ordered.sort),
  };
}

async function findMatches(reading: Reading, index: SearchedIndex, request: EngineSearch): Promise<Matches> {
  const { connection, retained } = reading;
  const isRetained =
    request.limit <= mostRetained && request.sort.field === 'timestamp' && isWorthRetaining(request.query);
  const matches = isRetained ? await findRetained(reading, index, request) : undefined;
  if (matches !== undefined) return matches;
  const counts = await retained.counts.find(connection, index.file, request);
  if (counts !== undefined) {
    const count = request.count === false ? undefined : await countRows(connection, index.file, request, counts);
    const isNone = count === 0 || request.limit <= 0;
    const nearest = { counts, rows: counts.covered };
    return { count: count ?? 0, first: isNone ? [] : await findNearest(connection, index, request, nearest) };
  }
  const count = request.count === false ? undefined : await countMatches(connection, index, request);
  const isNone = count === 0 || request.limit <= 0;
  return { count: count ?? 0, first: isNone ? [] : await findFirst(connection, index, request) };
}

async function findRetained(
  { connection, retained }: Reading,
  index: SearchedIndex,
  request: EngineSearch,
): Promise<Matches | undefined> {
  const lease = await retained.rows.lease(connection, index.file, request);
  try {
    return lease === undefined
      ? undefined
      : await findInLease(connection, index, lease, { ...request, direction: request.sort.direction });
  } finally {
    lease?.release();
  }
}
