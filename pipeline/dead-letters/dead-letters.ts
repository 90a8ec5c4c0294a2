/**
 * What an operator does with dead letters: looks at them, replays them, gives them up. Page by page, with progress, and
 * ended between two pages.
 */
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
  const eachPage = (selection: Selection, limit: number, work: Work, onPage: OnPage): Promise<Ended> =>
    eachPageUntil(context, { ...selection, to: Math.min(selection.to ?? Infinity, now()) }, { limit, ...work, onPage });

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
      const report: PlanCounts = { index_sets: {}, fail: {}, dropped_by_rules: 0, skipped: 0 };
      const ended = await eachPage(selection, limit, work, async (page) => {
        for (const deadLetter of page) await countPlan(context, deadLetter, report);
      });
      return { ...report, ...ended };
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

type OnPage = (page: readonly ListedDeadLetter[]) => Promise<void>;

interface Pages extends Work {
  readonly limit: number;
  readonly onPage: OnPage;
}

/** Oldest first, page by page, until the work is cancelled. Dead letters that come meanwhile are not among them. */
async function eachPageUntil({ deliver }: PlanContext, selection: Selection, pages: Pages): Promise<Ended> {
  const { limit, signal, onProgress, onPage } = pages;
  const found = await findDeadLetters(deliver.store, selection);
  const total = Math.min(found.total, limit);
  let done = 0;
  await onProgress({ done, total });
  for await (const page of found.pages(pageSize, limit, 'asc', signal)) {
    if (signal.aborted) break;
    await deliver.ledger.refresh();
    await onPage(page);
    done += page.length;
    await onProgress({ done, total: Math.max(done, total) });
  }
  return { done, total: Math.max(done, total), cancelled: signal.aborted && done < total };
}

interface PlanCounts {
  readonly index_sets: Record<string, number>;
  readonly fail: Record<string, number>;
  dropped_by_rules: number;
  skipped: number;
}

async function countPlan(context: PlanContext, deadLetter: ListedDeadLetter, report: PlanCounts): Promise<void> {
  const count = (counts: Record<string, number>, key: string): void => {
    counts[key] = (counts[key] ?? 0) + 1;
  };
  const { state } = stateOf(deadLetter.document);
  if (state !== 'open' && state !== 'targeted') {
    report.skipped += 1;
    return;
  }
  const plan = await planOf({ ...deadLetter, revision: '' }, context);
  if ('code' in plan) count(report.fail, plan.code);
  else if (plan.targets.length === 0) report.dropped_by_rules += 1;
  else for (const { indexSet } of plan.targets) count(report.index_sets, indexSet);
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
