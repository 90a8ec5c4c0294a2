/** Searching, and what the verifier reads. */
import type { Sluice } from '../../pipeline/sluice.js';
import type { SearchResult } from '../../schemas/query.js';
import { parseQuery } from '../../search/parser.js';
import { isQueryProblem, queryError } from '../../search/problem.js';
import type { ControlRoutes } from './routes.js';
import { openIndices, storeOf } from './store-access.js';

/** Documents in one answer; more come page by page. */
const maxLimit = 10_000;

interface SearchBody {
  readonly query?: string;
  readonly from?: number;
  readonly to?: number;
  readonly limit?: number;
  readonly sort?: { readonly field: string; readonly direction: 'asc' | 'desc' };
  readonly fields?: readonly string[];
  readonly after?: { readonly sortValue: string | number; readonly id: string };
  /** Default: all but the dead letters. */
  readonly index_sets?: readonly string[];
}

export function searchRoutes(sluice: Sluice): ControlRoutes {
  const search = async (body: unknown, signal: AbortSignal): Promise<SearchResult> => {
    const request = (body ?? {}) as SearchBody;
    const query = parseQuery(request.query ?? '');
    if (isQueryProblem(query)) throw queryError(query);
    const limit = Math.min(request.limit ?? 100, maxLimit);
    return storeOf(sluice).search({ ...request, query, limit, indices: await openIndices(sluice, request.index_sets), signal });
  };
  return {
    'POST /search': (body, { signal }) => search(body, signal),
    'POST /scan-ids': async (body, { line }) => {
      const { index_sets: sets } = (body ?? {}) as { index_sets?: readonly string[] };
      for (const index of await openIndices(sluice, sets)) await storeOf(sluice).scanIds([index], (ids) => line({ index, ids }));
      return undefined;
    },
    'POST /refresh': async (body) => {
      const { index_sets: sets } = (body ?? {}) as { index_sets?: readonly string[] };
      await storeOf(sluice).refresh(await openIndices(sluice, sets));
      return {};
    },
  };
}
