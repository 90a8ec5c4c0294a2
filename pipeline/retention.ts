/** Retention: which indices must go, and their end once every partition has passed them (delivery protocol, rule 7). */
import { buildMetrics } from '../core/metrics.js';
import { errorText } from '../core/errors.js';
import { expiredIndices } from '../sinks/index-sets/retention/registry.js';
import { isPassed, type IndexMark } from './delivery/records.js';
import type { IndexSetsOptions } from './index-sets-options.js';
import type { Ledger } from './ledger.js';
import { pipelineMetrics } from './metrics.js';
import { deadLetterSet } from './route.js';

/** One run over all sets; a set that fails does not stop the others. */
export function createRetention(options: IndexSetsOptions): () => Promise<void> {
  const { ledger, store, log } = options;
  const metrics = buildMetrics(options.registry, pipelineMetrics);
  const currentOf = (indexSet: string): string | undefined => ledger.latestEpoch()?.indices[indexSet];

  const markRetiring = async (
    name: string,
    action: 'close' | 'delete',
    marks: Awaited<ReturnType<Ledger['marks']>>,
  ): Promise<void> => {
    const found = marks.get(name) ?? (await ledger.mark(name));
    if (found === undefined || found.mark.state !== 'open') return;
    await ledger.writeMark(name, { ...found.mark, state: 'retiring', action }, found.revision);
  };

  const capTotal = async (cap: number): Promise<void> => {
    const marks = await ledger.marks();
    const infos = (await Promise.all(options.sets().map((set) => store.listIndices(set.id)))).flat();
    let total = infos.reduce((sum, info) => sum + info.bytes, 0);
    const current = new Set(Object.values(ledger.latestEpoch()?.indices ?? {}));
    for (const info of infos.filter(({ name }) => !current.has(name)).sort((a, b) => a.createdAt - b.createdAt)) {
      if (total <= cap) return;
      await markRetiring(info.name, 'delete', marks);
      total -= info.bytes;
    }
  };

  /** Another process closed it first, and somebody may have opened it again before this process closed it a second time. */
  const undoLateClose = async (name: string): Promise<void> => {
    if ((await ledger.mark(name))?.mark.state === 'open') await store.openIndex(name);
  };

  /** Rule 7: close or delete only what no partition can write to any more. Dead letters go to one set alone, and may be silent for ever. */
  const retirePassed = async (): Promise<void> => {
    const retiring = [...(await ledger.marks())].filter(([, { mark }]) => mark.state === 'retiring');
    if (retiring.length === 0) return;
    await ledger.refresh();
    const partitions = await consumedPartitions(options);
    for (const [name, { mark, revision }] of retiring) {
      const writing = partitions.filter(
        ({ topic }) => topic !== options.deadLettersTopic || mark.indexSet === deadLetterSet,
      );
      if (
        !isPassed(name, ledger.epochs(), writing) ||
        !isPassed(name, ledger.epochs(), await leftParked(options, mark.indexSet))
      )
        continue;
      if ((await ledger.mark(name))?.revision !== revision) continue;
      const action = mark.action ?? 'delete';
      if (action === 'close') await store.closeIndex(name);
      else await store.deleteIndex(name);
      options.forget(name);
      // All processors may come this far with one index; who marks it counts it.
      if (!(await ledger.writeMark(name, { ...mark, state: action === 'close' ? 'closed' : 'deleted' }, revision))) {
        if (action === 'close') await undoLateClose(name);
        continue;
      }
      metrics.retirements.inc({ index_set: mark.indexSet, action });
      log.info({ index: name, action }, 'index retired');
    }
  };

  return async () => {
    // Another processor may have rotated: its new index must not be taken for an old one.
    await ledger.refresh();
    const marks = await ledger.marks();
    for (const set of options.sets()) {
      try {
        const listed = await store.listIndices(set.id);
        const current = listed.findIndex((info) => info.name === currentOf(set.id));
        // What comes after the current one was made since by another processor.
        const known = current === -1 ? listed : listed.slice(0, current + 1);
        const kept = known.filter((info, place) => place === current || isKept(marks.get(info.name)?.mark));
        for (const { name, action } of expiredIndices(set.retention, kept))
          await markRetiring(name, action === 'close' ? 'close' : 'delete', marks);
      } catch (error) {
        log.warn({ index_set: set.id, error: errorText(error) }, 'retention check failed; it is repeated');
      }
    }
    const current = new Set(Object.values(ledger.latestEpoch()?.indices ?? {}));
    for (const [name, { mark }] of marks)
      if (mark.unwanted === true && !current.has(name)) await markRetiring(name, 'delete', marks);
    if (options.maxTotalBytes !== undefined) await capTotal(options.maxTotalBytes);
    await retirePassed();
  };
}

const isKept = (mark: IndexMark | undefined): boolean =>
  mark === undefined || (mark.state === 'open' && mark.reopened !== true);

async function consumedPartitions(
  options: IndexSetsOptions,
): Promise<(Parameters<typeof isPassed>[2][number] & { readonly topic: string })[]> {
  const all = await Promise.all(
    options.consumedTopics.map(async (topic) => {
      // In this order: what a partition had parked before it committed stands in the record that is read afterwards.
      const committed = await options.topics.committed(options.group, topic);
      const records = await options.ledger.partitionRecords(topic, await options.topics.generation(topic));
      return [...records].map(([partition, record]) => ({ topic, record, committed: committed.get(partition) }));
    }),
  );
  return all.flat();
}

/** A topic that was made again leaves what it had parked behind. Nobody owns those records any more: they hold an index until the set is drained. */
async function leftParked(options: IndexSetsOptions, indexSet: string): Promise<Parameters<typeof isPassed>[2]> {
  if (!(await options.parkedLeft(indexSet))) return [];
  const records = await Promise.all(
    options.consumedTopics.map(async (topic) =>
      options.ledger.otherPartitionRecords(topic, await options.topics.generation(topic)),
    ),
  );
  return records
    .flat()
    .filter(({ parked }) => parked?.[indexSet] !== undefined)
    .map((record) => ({ record, committed: Number.MAX_SAFE_INTEGER }));
}
