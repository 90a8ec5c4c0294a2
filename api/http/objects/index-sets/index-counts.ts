/**
 * How much index sets hold, as far as the asker may know: the size of an index tells of messages that may not be read,
 * a count of those that may does not.
 */
import { deadLetterSet } from '../../../../schemas/index-sets.js';
import { has, type Identity } from '../../../../schemas/access.js';
import type { ApiServices } from '../../services.js';

interface IndexCounts {
  readonly indices: number;
  /** Only documents that may be read. */
  readonly documents: number;
  /** Bytes; null: not told. */
  readonly size: number | null;
}

/** Whether every document of the set may be counted. */
export function countsAll(identity: Identity, indexSet?: string): boolean {
  const { streams, except, deadLetters } = identity.scope;
  return (
    has(identity, 'index-sets:edit') ||
    (streams === 'all' && except.length === 0 && (deadLetters || indexSet !== deadLetterSet))
  );
}

export async function indexCounts(
  { indices: stored, searcher }: Pick<ApiServices, 'indices' | 'searcher'>,
  indexSet: string,
  identity: Identity,
): Promise<IndexCounts> {
  const infos = await stored.list(indexSet);
  const indices = infos.length;
  if (countsAll(identity, indexSet))
    return {
      indices,
      documents: infos.reduce((sum, info) => sum + info.documents, 0),
      size: infos.reduce((sum, info) => sum + info.bytes, 0),
    };
  const { total } = await searcher.aggregate(
    { query: '', indexSets: [indexSet], aggregate: { groups: [], metrics: [] } },
    { scope: identity.scope, fairnessKey: identity.username },
  );
  return { indices, documents: total, size: null };
}

export function sumOf(counts: readonly IndexCounts[]): IndexCounts {
  return counts.reduce(
    (sum, { indices, documents, size }) => ({
      indices: sum.indices + indices,
      documents: sum.documents + documents,
      size: sum.size === null || size === null ? null : sum.size + size,
    }),
    { indices: 0, documents: 0, size: 0 },
  );
}
