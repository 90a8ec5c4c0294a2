/** What an operator does with dead letters: looks at them, replays them, gives them up. Page by page, with progress, and ended between two pages. */
import { buildMetrics, type Registry } from '../../core/metrics.js';
import { pipelineErrors } from '../errors.js';
import type { DeadLetterResult, DeadLetters, Ended, ListedDeadLetter, Selection, Work } from './contract.js';
import { findDeadLetters, deadLettersById } from './find.js';
import { deadLetterMetrics } from './metrics.js';
import { planOf, type PlanContext } from './plan.js';
import { replayDeadLetters } from './replayer.js';
import { stateOf, withState } from './state.js';

const pageSize = 200;

interface DeadLettersOptions extends Omit<PlanContext, 'newest'> {
  readonly registry: Registry;
  readonly now: () => number;
}

export function createDeadLetters(options: DeadLettersOptions): DeadLetters {
  const { deliver, now } = options;
  const { store, ledger } = deliver;
  const metrics = buildMetrics(options.registry, deadLetterMetrics);
  const newest: PlanContext['newest'] = () => {
    const epoch = ledger.latestEpoch();
    if (epoch === undefined) throw pipelineErrors.create('PIPELINE_EPOCH_MISSING', { place: 'the newest epoch' });
    return epoch;
  };
  const context = { ...options, newest };

  /** Letters that come meanwhile are not among them. */
  const eachPage = async (
    selection: Selection,
    limit: number,
    work: Work,
    onPage: (page: readonly ListedDeadLetter[]) => Promise<void>,
  ): Promise<Ended> => {
    const found = await findDeadLetters(store, { ...selection, to: Math.min(selection.to ?? Infinity, now()) });
    const total = Math.min(found.total, limit);
    let done = 0;
    await work.onProgress({ done, total });
    for await (const page of found.pages(pageSize, limit, 'asc', work.signal)) {
      if (work.signal.aborted) break;
      await ledger.refresh();
      await onPage(page);
      done += page.length;
      await work.onProgress({ done, total: Math.max(done, total) });
    }
    return { done, total: Math.max(done, total), cancelled: work.signal.aborted && done < total };
  };

  return {
    async list(selection, limit, onPage, signal) {
      const found = await findDeadLetters(store, selection);
      for await (const page of found.pages(pageSize, limit, 'desc', signal)) await onPage(page, found.total);
      return found.total;
    },
    find: async (id) => (await deadLettersById(store, [id]))[0],
    async replay(selection, limit, work) {
      const counts: Record<DeadLetterResult, number> = {
        replayed: 0,
        failed: 0,
        left: 0,
        elsewhere: 0,
        skipped: 0,
        gone: 0,
      };
      const ended = await eachPage(selection, limit, work, async (page) => {
        for (const result of await replayDeadLetters(page, context)) {
          counts[result] += 1;
          metrics.replays.inc({ outcome: result });
        }
      });
      return { ...counts, ...ended };
    },
    async plan(selection, limit, work) {
      const indexSets: Record<string, number> = {};
      const fail: Record<string, number> = {};
      let [byRules, skipped] = [0, 0];
      const count = (counts: Record<string, number>, key: string): void => {
        counts[key] = (counts[key] ?? 0) + 1;
      };
      const ended = await eachPage(selection, limit, work, async (page) => {
        for (const { id, place, document } of page) {
          const { state } = stateOf(document);
          const plan =
            state === 'open' || state === 'targeted'
              ? await planOf({ id, place, document, revision: '' }, context)
              : undefined;
          if (plan === undefined) skipped += 1;
          else if ('code' in plan) count(fail, plan.code);
          else if (plan.targets.length === 0) byRules += 1;
          else for (const { indexSet } of plan.targets) count(indexSets, indexSet);
        }
      });
      return { index_sets: indexSets, fail, dropped_by_rules: byRules, skipped, ...ended };
    },
    async drop(selection, limit, by, work) {
      let dropped = 0;
      const ended = await eachPage(selection, limit, work, async (page) => {
        const updated = await dropDeadLetters(context, page, {
          dropped_by: by,
          dropped_at: new Date(now()).toISOString(),
        });
        dropped += updated;
        metrics.dropped.inc(updated);
      });
      return { dropped, skipped: ended.done - dropped, ...ended };
    },
  };
}

async function dropDeadLetters(
  { deliver }: PlanContext,
  page: readonly ListedDeadLetter[],
  marks: Readonly<Record<string, string>>,
): Promise<number> {
  const { store } = deliver;
  let dropped = 0;
  for (const place of new Set(page.map((deadLetter) => deadLetter.place))) {
    const found = await store.documents.read(
      place,
      page.filter((deadLetter) => deadLetter.place === place).map(({ id }) => id),
    );
    const open = [...found].filter(([, { document }]) => stateOf(document).state === 'open');
    const updates = open.map(([id, { document, revision }]) => {
      const { replays } = stateOf(document);
      return {
        id,
        expected: revision,
        document: JSON.stringify(withState(document, { state: 'dropped', replays }, marks)),
      };
    });
    dropped += (await store.documents.update(place, updates)).filter((revision) => revision !== undefined).length;
  }
  return dropped;
}
