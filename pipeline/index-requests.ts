/** What people ask of single indices: closed, opened again, deleted. The mark says it, as with retention; no partition loses an index that it may still write to. */
import type { IndexStore } from '../sinks/stores/contract.js';
import type { IndexMark } from './delivery/records.js';
import { pipelineErrors } from './errors.js';
import type { Ledger } from './ledger.js';

export interface IndexFacts {
  readonly name: string;
  readonly indexSet: string;
  /** What is written to now. */
  readonly current: boolean;
  /** `closing` and `deleting`: as soon as no partition can write to it any more. */
  readonly state: 'open' | 'closed' | 'closing' | 'deleting';
  readonly reopened: boolean;
  readonly documents: number;
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

/** `overtaken`: somebody else began the next index at the same moment. `absent`: no epoch names an index of this set yet, or any more. */
export type Rotation = 'rotated' | 'overtaken' | 'absent';

export interface IndexRequests {
  /** Begins the next index of a set. */
  rotate(indexSet: string): Promise<Rotation>;
  list(indexSets: readonly string[]): Promise<readonly IndexFacts[]>;
  /** Rejects with PIPELINE_INDEX_IN_USE or PIPELINE_INDEX_UNKNOWN. Happens with the next retention that finds it passed. */
  retire(index: string, action: 'close' | 'delete'): Promise<void>;
  /** Of a closed one. Retention leaves it alone from then on. */
  reopen(index: string): Promise<void>;
  /** All indices of a set that is in no rules any more. What processors have not left yet is retired as soon as they have. */
  retireAll(indexSet: string): Promise<void>;
  /** Whether processors have yet to leave the indices of a set that was deleted together with them. */
  leaving(indexSet: string): Promise<boolean>;
}

export interface IndexRequestsOptions {
  readonly ledger: Ledger;
  readonly store: IndexStore;
  /** See KnownSets. */
  readonly follow: () => Promise<void>;
  /** See IndexSets. */
  readonly rotate: (indexSet: string) => Promise<boolean>;
  readonly retireSoon: () => void;
}

export function createIndexRequests({
  ledger,
  store,
  follow,
  rotate,
  retireSoon,
}: IndexRequestsOptions): IndexRequests {
  const isCurrent = (index: string): boolean => Object.values(ledger.latestEpoch()?.indices ?? {}).includes(index);
  const markOf = async (index: string): Promise<{ readonly mark: IndexMark; readonly revision: string }> => {
    const found = await ledger.mark(index);
    if (found === undefined || found.mark.state === 'deleted')
      throw pipelineErrors.create('PIPELINE_INDEX_UNKNOWN', { place: index });
    return found;
  };
  const write = async (index: string, mark: IndexMark, revision: string): Promise<void> => {
    if (!(await ledger.writeMark(index, mark, revision)))
      throw pipelineErrors.create('PIPELINE_INDEX_CHANGED', { place: index });
  };
  const retire = async (index: string, action: 'close' | 'delete'): Promise<void> => {
    const { mark, revision } = await markOf(index);
    if (isCurrent(index)) throw pipelineErrors.create('PIPELINE_INDEX_IN_USE', { place: index });
    // Some process may be deleting it already.
    const isDeleting = mark.state === 'retiring' && (mark.action ?? 'delete') === 'delete';
    if (isDeleting && action === 'delete') return;
    if (isDeleting) throw pipelineErrors.create('PIPELINE_INDEX_CHANGED', { place: index, got: 'it is being deleted' });
    await write(
      index,
      { indexSet: mark.indexSet, number: mark.number, createdAt: mark.createdAt, state: 'retiring', action },
      revision,
    );
  };

  return {
    async rotate(indexSet) {
      await follow();
      if (ledger.latestEpoch()?.indices[indexSet] === undefined) return 'absent';
      return (await rotate(indexSet)) ? 'rotated' : 'overtaken';
    },
    async list(indexSets) {
      await ledger.refresh();
      const marks = await ledger.marks();
      const infos = await Promise.all(
        indexSets.map(async (indexSet) => (await store.listIndices(indexSet)).map((info) => ({ ...info, indexSet }))),
      );
      return infos.flat().map(({ name, indexSet, open, documents, bytes, createdAt }) => {
        const mark = marks.get(name)?.mark;
        const state =
          mark?.state === 'retiring' ? (mark.action === 'close' ? 'closing' : 'deleting') : open ? 'open' : 'closed';
        return {
          name,
          indexSet,
          current: isCurrent(name),
          state,
          reopened: mark?.reopened === true,
          documents,
          bytes,
          createdAt: mark?.createdAt ?? createdAt,
        };
      });
    },
    async retire(index, action) {
      await ledger.refresh();
      await retire(index, action);
      retireSoon();
    },
    async reopen(index) {
      const { mark, revision } = await markOf(index);
      if (mark.state !== 'closed' && mark.state !== 'open')
        throw pipelineErrors.create('PIPELINE_INDEX_CHANGED', {
          place: index,
          got: `state ${mark.state}`,
          allowed: 'closed',
        });
      if (mark.state === 'closed')
        await write(
          index,
          { indexSet: mark.indexSet, number: mark.number, createdAt: mark.createdAt, state: 'open', reopened: true },
          revision,
        );
      // In this order: who closes it late, because of what the mark said before, finds the mark and opens it again.
      await store.openIndex(index);
    },
    async retireAll(indexSet) {
      await ledger.refresh();
      const marks = [...(await ledger.marks())].filter(
        ([, { mark }]) => mark.indexSet === indexSet && mark.state !== 'deleted',
      );
      for (const [index, { mark, revision }] of marks) {
        if (isCurrent(index)) await write(index, { ...mark, unwanted: true }, revision);
        else await retire(index, 'delete');
      }
      retireSoon();
    },
    async leaving(indexSet) {
      await ledger.refresh();
      const index = ledger.latestEpoch()?.indices[indexSet];
      return index !== undefined && (await ledger.mark(index))?.mark.unwanted === true;
    },
  };
}
