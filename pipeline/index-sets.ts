/** Keeps index sets in their limits: rotation by checks and at embedded write batches, retention from time to time. */
import { buildMetrics } from '../core/metrics.js';
import { errorText } from '../core/errors.js';
import type { IndexSetDefinition } from '../rules/contract.js';
import type { IndexInfo } from '../sinks/stores/contract.js';
import { shouldRotate } from '../sinks/index-sets/rotation/registry.js';
import type { IndexSetsOptions } from './index-sets-options.js';
import { pipelineMetrics } from './metrics.js';
import { createRetention } from './retention.js';

/** At this share of its size limit an index is measured exactly, after a checkpoint where the store has one: documents take more room in a write-ahead log than in the file. */
const measureShare = 0.985;
/**
 * An index measured exactly gives way at this share: what is in flight comes on top, and an index that a checkpoint made
 * a little smaller would otherwise come close to the limit in ever smaller steps, with a checkpoint each.
 */
const foldedShare = 0.96;

/** From this share of its size limit on, an index of a store without a checkpoint is refreshed and measured often: its size is told only as of its last refresh. */
const nearShare = 0.7;
const nearCheckMs = 500;

export interface IndexSets {
  start(): void;
  stop(): Promise<void>;
  /** A write has just made the index this large, what comes on top by itself included. */
  observe(indexSet: string, index: string, bytes: number): void;
  rotateNow(indexSet: string): Promise<boolean>;
  /** True when an index is near its limit, so that the next check should come soon. */
  checkRotation(): Promise<boolean>;
  checkRetention(): Promise<void>;
}

/** An index must not outgrow its limit when it is not written any more. */
function expectedBytes({ bytes, pendingBytes = 0 }: IndexInfo): number {
  return bytes + pendingBytes;
}

export function createIndexSets(options: IndexSetsOptions): IndexSets {
  const { ledger, store, log } = options;
  const metrics = buildMetrics(options.registry, pipelineMetrics);
  const rotating = new Set<string>();
  /** Sets with a check that was asked for by a write and has not ended. */
  const measuring = new Set<string>();
  /** Rotated indices whose last documents, in flight at the rotation, are still in the write-ahead log. */
  const unfolded = new Set<string>();
  const timers: NodeJS.Timeout[] = [];
  let rotationTimer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopped = false;

  const currentOf = (indexSet: string): string | undefined => ledger.latestEpoch()?.indices[indexSet];
  const setOf = (indexSet: string): IndexSetDefinition | undefined => options.sets().find((set) => set.id === indexSet);

  const rotate = async (
    set: IndexSetDefinition,
    current: string,
    cause: string,
    facts: Pick<IndexInfo, 'bytes' | 'pendingBytes' | 'documents'>,
  ): Promise<boolean> => {
    if (rotating.has(set.id)) return false;
    rotating.add(set.id);
    try {
      const done = await options.epochs.rotate(set, current);
      if (done) {
        metrics.rotations.inc({ index_set: set.id, cause });
        log.info(
          {
            index_set: set.id,
            from: current,
            to: currentOf(set.id),
            cause,
            bytes: facts.bytes,
            pending_bytes: facts.pendingBytes,
            documents: facts.documents,
          },
          'index rotated',
        );
        if (store.checkpoint !== undefined) unfolded.add(current);
      }
      return done;
    } finally {
      rotating.delete(set.id);
    }
  };

  const measured = async (set: IndexSetDefinition, index: string): Promise<IndexInfo | undefined> =>
    (await store.listIndices(set.id)).find((info) => info.name === index);

  /** True when the index is near its limit. */
  const checkSet = async (set: IndexSetDefinition, infos: readonly IndexInfo[]): Promise<boolean> => {
    const current = currentOf(set.id);
    let info = infos.find((candidate) => candidate.name === current);
    if (current === undefined || info === undefined) return false;
    const { rotation } = set;
    let share = measureShare;
    const near =
      rotation.type === 'size' && store.checkpoint === undefined && info.bytes >= rotation.max_bytes * nearShare;
    if (near) {
      await store.refresh([current]);
      info = (await measured(set, current)) ?? info;
    }
    if (
      rotation.type === 'size' &&
      expectedBytes(info) >= rotation.max_bytes * measureShare &&
      store.checkpoint !== undefined
    ) {
      await store.checkpoint(current);
      info = (await measured(set, current)) ?? info;
      share = foldedShare;
    }
    const mark = await ledger.mark(current);
    const limit =
      rotation.type === 'size' ? { ...rotation, max_bytes: Math.floor(rotation.max_bytes * share) } : rotation;
    if (
      shouldRotate(limit, {
        bytes: expectedBytes(info),
        documents: info.documents,
        createdAt: mark?.mark.createdAt ?? info.createdAt,
        now: options.now(),
      })
    )
      await rotate(set, current, rotation.type, info);
    return near;
  };

  const foldRotated = async (): Promise<void> => {
    for (const index of unfolded) {
      unfolded.delete(index);
      await store
        .checkpoint?.(index)
        .catch((error: unknown) =>
          log.warn({ index, error: errorText(error) }, 'the write-ahead log of a rotated index could not be folded in'),
        );
    }
  };

  const checkRotation = async (): Promise<boolean> => {
    await foldRotated();
    let near = false;
    for (const set of options.sets()) {
      try {
        const infos = await store.listIndices(set.id);
        metrics.indexBytes.set(
          { index_set: set.id },
          infos.reduce((sum, info) => sum + info.bytes, 0),
        );
        metrics.indexDocuments.set(
          { index_set: set.id },
          infos.reduce((sum, info) => sum + info.documents, 0),
        );
        if (await checkSet(set, infos)) near = true;
      } catch (error) {
        log.warn({ index_set: set.id, error: errorText(error) }, 'rotation check failed; it is repeated');
      }
    }
    return near;
  };

  const serially = (work: () => Promise<void>): void => {
    running = running
      .then(async () => {
        if (!stopped) await work();
      })
      .catch((error: unknown) => log.warn({ error: errorText(error) }, 'index set check failed; it is repeated'));
  };

  const checkRetention = createRetention(options);

  const scheduleRotation = (delayMs: number): void => {
    rotationTimer = setTimeout(
      () =>
        serially(async () => {
          let near = false;
          try {
            near = await checkRotation();
          } finally {
            if (!stopped)
              scheduleRotation(near ? Math.min(nearCheckMs, options.rotationCheckMs) : options.rotationCheckMs);
          }
        }),
      delayMs,
    ).unref();
  };

  return {
    start() {
      scheduleRotation(options.rotationCheckMs);
      timers.push(setInterval(() => serially(checkRetention), options.retentionCheckMs).unref());
    },
    async stop() {
      stopped = true;
      timers.forEach(clearInterval);
      clearTimeout(rotationTimer);
      await running;
    },
    observe(indexSet, index, bytes) {
      const set = setOf(indexSet);
      if (
        set?.rotation.type !== 'size' ||
        bytes < set.rotation.max_bytes * measureShare ||
        measuring.has(indexSet) ||
        currentOf(indexSet) !== index
      )
        return;
      measuring.add(indexSet);
      serially(async () => {
        try {
          await checkSet(set, await store.listIndices(set.id));
        } finally {
          measuring.delete(indexSet);
        }
      });
    },
    async rotateNow(indexSet) {
      const set = setOf(indexSet);
      const current = currentOf(indexSet);
      if (set === undefined || current === undefined) return false;
      return rotate(set, current, 'request', (await measured(set, current)) ?? { bytes: 0, documents: 0 });
    },
    checkRotation,
    checkRetention,
  };
}
