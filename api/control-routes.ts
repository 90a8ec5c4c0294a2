/** What the command line asks of the running program over the control socket. */
import type { Sluice } from '../pipeline/sluice.js';
import { parseQuery } from '../search/parser.js';
import { isQueryProblem, queryError } from '../search/problem.js';
import { deadLetterSet } from '../pipeline/route.js';
import type { SearchResult } from '../schemas/query.js';
import type { ControlHandler } from './control.js';
import { apiErrors } from './errors.js';

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

export function controlRoutes(sluice: Sluice, adminPort: () => number | undefined): Readonly<Record<string, ControlHandler>> {
  const storeOf = (): NonNullable<Sluice['store']> => {
    if (sluice.store === undefined) throw apiErrors.create('API_REQUEST_INVALID', { got: 'a search on a process without the role processor', allowed: 'a process with it' });
    return sluice.store;
  };
  const indicesOf = async (sets: readonly string[] | undefined): Promise<string[]> => {
    const wanted = sets ?? (sluice.processor?.rules()?.indexSets ?? []).map((set) => set.id).filter((id) => id !== deadLetterSet);
    const infos = await Promise.all(wanted.map((set) => storeOf().listIndices(set)));
    return infos.flat().filter((info) => info.open).map((info) => info.name);
  };

  const search = async (body: unknown, signal: AbortSignal): Promise<SearchResult> => {
    const request = (body ?? {}) as SearchBody;
    const query = parseQuery(request.query ?? '');
    if (isQueryProblem(query)) throw queryError(query);
    const limit = Math.min(request.limit ?? 100, maxLimit);
    return storeOf().search({ ...request, query, limit, indices: await indicesOf(request.index_sets), signal });
  };

  return {
    'POST /search': (body, { signal }) => search(body, signal),
    'POST /scan-ids': async (body, { line }) => {
      const { index_sets: sets } = (body ?? {}) as { index_sets?: readonly string[] };
      for (const index of await indicesOf(sets)) await storeOf().scanIds([index], (ids) => line({ index, ids }));
      return undefined;
    },
    'POST /refresh': async () => {
      await storeOf().refresh(await indicesOf(undefined));
      return {};
    },
    'POST /rotate': async (body) => {
      const { index_set: indexSet } = (body ?? {}) as { index_set?: string };
      return { rotated: indexSet === undefined ? false : await sluice.processor?.indexSets.rotateNow(indexSet) };
    },
    'POST /retention': async () => {
      await sluice.processor?.indexSets.checkRetention();
      return {};
    },
    'GET /status': async () => ({ ...(await status(sluice)), admin_port: adminPort() }),
  };
}

async function status(sluice: Sluice): Promise<Readonly<Record<string, unknown>>> {
  const { processor, store } = sluice;
  const sets = await Promise.all((processor?.rules()?.indexSets ?? []).map(async (set) => ({ id: set.id, indices: (await store?.listIndices(set.id)) ?? [] })));
  return {
    pid: process.pid,
    receivers: sluice.receivers.map((receiver) => ({ name: receiver.name, ...receiver.address() })),
    lag: processor === undefined ? undefined : await processor.lag(),
    rule_set_version: processor?.rules()?.version,
    epoch: processor?.ledger.latestEpoch(),
    index_sets: sets,
    ready: await sluice.ready(),
  };
}
