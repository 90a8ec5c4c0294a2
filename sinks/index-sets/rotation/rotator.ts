/** Rotates index sets: measures their current index, and has the next one begun when a limit is reached. */
import { buildMetrics, type BuiltMetrics } from '../../../core/metrics.js';
import { errorText } from '../../../core/errors.js';
import type { IndexSetDefinition, RotationSettings } from '../../../schemas/index-sets.js';
import type { IndexInfo } from '../../stores/contract.js';
import type { IndexSetsOptions } from '../contract.js';
import { indexSetMetrics } from '../metrics.js';
import { shouldRotate } from './registry.js';
import { indexSetEvents } from '../events.js';

/**
 * At this share of its size limit an index is measured exactly, after a checkpoint where the store has one: documents
 * take more room in a write-ahead log than in the file.
 */
const measureShare = 0.985;
/**
 * An index measured exactly gives way at this share: what is in flight comes on top, and an index that a checkpoint
 * made a little smaller would otherwise come close to the limit in ever smaller steps, with a checkpoint each.
 */
const foldedShare = 0.96;
/**
 * From this share of its size limit on, an index of a store without a checkpoint is refreshed before it is measured,
 * and measured often: its size is told only as of its last refresh.
 */
const nearShare = 0.7;

/** Whether a write that made an index this large asks for a check. */
export function reachesMeasure(rotation: RotationSettings, bytes: number): boolean {
  return rotation.type === 'size' && bytes >= rotation.max_bytes * measureShare;
}

/** What the index has once it is not written any more: its limit holds for that. */
function expectedBytes({ bytes, pendingBytes = 0 }: IndexInfo): number {
  return bytes + pendingBytes;
}

interface Measured {
  readonly info: IndexInfo;
  /** The share of a size limit at which this measure calls for the next index. */
  readonly share: number;
  /** The next check should come soon. */
  readonly near: boolean;
}

export class Rotator {
  readonly #options: IndexSetsOptions;
  readonly #metrics: BuiltMetrics<typeof indexSetMetrics>;
  readonly #rotating = new Set<string>();
  /** Rotated indices whose last documents, in flight at the rotation, are still in the write-ahead log. */
  readonly #unfolded = new Set<string>();

  constructor(options: IndexSetsOptions) {
    this.#options = options;
    this.#metrics = buildMetrics(options.registry, indexSetMetrics);
  }

  /** All sets; one that fails does not stop the others. True when an index is near its limit. */
  async check(): Promise<boolean> {
    const { store, log } = this.#options;
    await this.#foldRotated();
    let near = false;
    for (const set of this.#options.sets()) {
      try {
        const infos = await store.indices.list(set.id);
        this.#count(set.id, infos);
        if (await this.checkSet(set, infos)) near = true;
      } catch (error) {
        indexSetEvents.rotationCheckFailed(log, { index_set: set.id, error: errorText(error) });
      }
    }
    return near;
  }

  /** True when the set's current index is near its limit. */
  async checkSet(set: IndexSetDefinition, infos: readonly IndexInfo[]): Promise<boolean> {
    const current = this.#currentOf(set.id);
    const listed = infos.find(({ name }) => name === current);
    if (current === undefined || listed === undefined) return false;
    const { info, share, near } = await this.#measure(set, listed);
    const { rotation } = set;
    const limit =
      rotation.type === 'size' ? { ...rotation, max_bytes: Math.floor(rotation.max_bytes * share) } : rotation;
    const state = await this.#options.ledger.indexState(current);
    const facts = {
      bytes: expectedBytes(info),
      documents: info.documents,
      createdAt: state?.value.createdAt ?? info.createdAt,
      now: this.#options.now(),
    };
    if (shouldRotate(limit, facts)) await this.#rotate(set, current, rotation.type, info);
    return near;
  }

  /** False when somebody else has begun the next index. */
  async rotateNow(set: IndexSetDefinition): Promise<boolean> {
    const current = this.#currentOf(set.id);
    if (current === undefined) return false;
    const info = await this.#infoOf(set.id, current);
    return this.#rotate(set, current, 'request', info ?? { bytes: 0, documents: 0 });
  }

  #currentOf(indexSet: string): string | undefined {
    return this.#options.ledger.currentIndices()[indexSet];
  }

  async #infoOf(indexSet: string, index: string): Promise<IndexInfo | undefined> {
    return (await this.#options.store.indices.list(indexSet)).find(({ name }) => name === index);
  }

  async #measure(set: IndexSetDefinition, info: IndexInfo): Promise<Measured> {
    const { store } = this.#options;
    if (set.rotation.type !== 'size') return { info, share: measureShare, near: false };
    const { max_bytes: limit } = set.rotation;
    if (!store.capabilities().checkpoints) {
      if (info.bytes < limit * nearShare) return { info, share: measureShare, near: false };
      await store.indices.refresh([info.name]);
      return { info: (await this.#infoOf(set.id, info.name)) ?? info, share: measureShare, near: true };
    }
    if (!reachesMeasure(set.rotation, expectedBytes(info))) return { info, share: measureShare, near: false };
    await store.indices.checkpoint(info.name);
    return { info: (await this.#infoOf(set.id, info.name)) ?? info, share: foldedShare, near: false };
  }

  async #rotate(
    set: IndexSetDefinition,
    current: string,
    cause: string,
    { bytes, pendingBytes, documents }: Pick<IndexInfo, 'bytes' | 'pendingBytes' | 'documents'>,
  ): Promise<boolean> {
    const { rotation, store, log } = this.#options;
    if (this.#rotating.has(set.id)) return false;
    this.#rotating.add(set.id);
    try {
      if (!(await rotation.rotate(set, current))) return false;
      this.#metrics.rotations.inc({ index_set: set.id, cause });
      const to = this.#currentOf(set.id);
      indexSetEvents.indexRotated(log, {
        index_set: set.id,
        from: current,
        to,
        cause,
        bytes,
        pending_bytes: pendingBytes,
        documents,
      });
      if (store.capabilities().checkpoints) this.#unfolded.add(current);
      return true;
    } finally {
      this.#rotating.delete(set.id);
    }
  }

  async #foldRotated(): Promise<void> {
    const { store, log } = this.#options;
    for (const index of this.#unfolded) {
      this.#unfolded.delete(index);
      await store.indices
        .checkpoint(index)
        .catch((error: unknown) => indexSetEvents.rotatedIndexUnfolded(log, { index, error: errorText(error) }));
    }
  }

  #count(indexSet: string, infos: readonly IndexInfo[]): void {
    const labels = { index_set: indexSet };
    this.#metrics.indexBytes.set(
      labels,
      infos.reduce((sum, { bytes }) => sum + bytes, 0),
    );
    this.#metrics.indexDocuments.set(
      labels,
      infos.reduce((sum, { documents }) => sum + documents, 0),
    );
  }
}
