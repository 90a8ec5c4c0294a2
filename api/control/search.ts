/** Searching, live tail, export, and what the verifier reads. Who may open the control socket may read everything. */
import { isSluiceError } from '../../core/errors.js';
import { tellError, type ToldError } from '../../core/process/told-error.js';
import { deadLetterSet } from '../../schemas/index-sets.js';
import { unrestrictedScope } from '../../schemas/access.js';
import type { SearchHit } from '../../schemas/query.js';
import type { ExportFormat, MessagesRequest, Searcher, SearchQuestion } from '../../search/contract.js';
import { apiErrors } from '../errors.js';
import type { ControlPorts, ControlRoutes } from './contract.js';
import { indicesOf, openIndices, withoutStore } from './store-access.js';

/** Documents in one answer; more come page by page. */
const maxLimit = 10_000;
const key = 'control socket';

interface SearchBody {
  readonly query?: string;
  readonly from?: number;
  readonly to?: number;
  readonly limit?: number;
  readonly sort?: MessagesRequest['sort'];
  readonly fields?: readonly string[];
  /** `next` of the answer before. */
  readonly after?: string;
  /** Default: all but the dead letters. */
  readonly index_sets?: readonly string[];
}

export interface SearchAnswer {
  readonly total: number;
  readonly hits: readonly SearchHit[];
  readonly next?: string | undefined;
  /** Indices that could not be asked, and why. */
  readonly skipped: readonly string[];
  readonly failures: readonly { readonly index: string; readonly reason: string }[];
}

export interface ExportBody extends SearchBody {
  readonly format?: ExportFormat;
}

/** Lines of an export: the total first, then pieces of the file, then the end or what ended it. */
export type ExportLine =
  | { readonly total: number }
  | { readonly text: string; readonly rows: number }
  | { readonly done: true }
  | { readonly error: ToldError };
/** Lines of a tail: first that it has begun. */
export type TailLine = { readonly begun: true } | { readonly hits: readonly SearchHit[] };

type SearchPorts = Pick<ControlPorts, 'indices' | 'rowExport' | 'rules' | 'searcher'>;

export function searchRoutes(ports: SearchPorts): ControlRoutes {
  const searcher = (): Searcher => {
    if (ports.searcher === undefined) throw withoutStore();
    return ports.searcher;
  };
  const search = async (body: unknown, signal: AbortSignal): Promise<SearchAnswer> => {
    const request = (body ?? {}) as SearchBody;
    const limit = Math.min(request.limit ?? 100, maxLimit);
    const answer = await searcher().messages(
      { ...request, ...questionOf(ports, request), limit },
      { scope: unrestrictedScope, signal, fairnessKey: key },
    );
    return {
      total: answer.total,
      hits: answer.messages,
      next: answer.next,
      skipped: answer.failures.map(({ index }) => index),
      failures: answer.failures,
    };
  };
  return {
    'POST /search': (body, { signal }) => search(body, signal),
    'POST /tail': async (body, { signal, line }) => {
      let begun = false;
      for await (const hits of searcher().tail(questionOf(ports, body ?? {}), {
        scope: unrestrictedScope,
        signal,
        fairnessKey: key,
      })) {
        await line(begun ? { hits } : { begun: true });
        begun = true;
      }
      return undefined;
    },
    'POST /export': async (body, { signal, line }) => {
      const request: ExportBody = body ?? {};
      const asked = { question: questionOf(ports, request), ...request };
      await exportLines({ searcher: searcher(), rowExport: ports.rowExport }, asked, signal, line);
      return undefined;
    },
    'POST /scan-ids': async (body, { line }) => {
      const { index_sets: sets } = (body ?? {}) as { index_sets?: readonly string[] };
      for (const index of await openIndices(ports, sets)) {
        // A process that loses a race for a rotation removes the index that it has made and nobody uses.
        await indicesOf(ports)
          .scanIds([index], (ids) => line({ index, ids }))
          .catch((error: unknown) => {
            if (!isSluiceError(error) || error.code !== 'STORE_INDEX_MISSING') throw error;
          });
      }
      return undefined;
    },
    'POST /refresh': async (body) => {
      const { index_sets: sets } = (body ?? {}) as { index_sets?: readonly string[] };
      await indicesOf(ports).refresh(await openIndices(ports, sets));
      return {};
    },
  };
}

function questionOf(ports: SearchPorts, { query, from, to, index_sets: indexSets }: SearchBody): SearchQuestion {
  if (indexSets !== undefined) checkIndexSets(ports, indexSets);
  return { query: query ?? '', from, to, indexSets };
}

/**
 * The search layer finds nothing in a set that is not there, as in one that may not be seen. Here everything may be
 * seen, and a wrong name is told.
 */
function checkIndexSets({ rules }: SearchPorts, wanted: readonly string[]): void {
  const known = new Set([...(rules()?.indexSets ?? []).map(({ id }) => id), deadLetterSet]);
  const unknown = wanted.filter((id) => !known.has(id));
  if (wanted.length > 0 && unknown.length === 0) return;
  throw apiErrors.create('SEARCH_INDEX_SET', {
    place: 'index set',
    got: unknown.length === 0 ? 'none' : unknown.join(', '),
    allowed: [...known].sort().join(', '),
  });
}

/** An error after the first line has no status any more: it is a line itself. */
async function exportLines(
  { searcher, rowExport }: { readonly searcher: Searcher; readonly rowExport: ControlPorts['rowExport'] },
  { question, sort, fields, limit, format = 'csv' }: ExportBody & { readonly question: SearchQuestion },
  signal: AbortSignal,
  line: (value: ExportLine) => Promise<void>,
): Promise<void> {
  const options = { scope: unrestrictedScope, signal, fairnessKey: key };
  const { total } = await searcher.messages({ ...question, limit: 0 }, options);
  await line({ total: limit === undefined ? total : Math.min(total, limit) });
  try {
    for await (const piece of rowExport.text(
      searcher.rows({ ...question, sort, limit, fields: rowExport.fields(format, fields) }, options),
      format,
      fields,
    ))
      await line(piece);
    await line({ done: true });
  } catch (thrown) {
    await line({ error: tellError(thrown) });
  }
}
