/**
 * Fills a store by its own write path with what the pipeline would write: decoded, routed by the rules that ship, made
 * to fit. It goes on where it was stopped.
 */
import { idPrefix, mintId } from '../../core/message-ids.js';
import type { Epoch } from '../../pipeline/delivery/records.js';
import type { IndexBatch } from '../../pipeline/index-batch.js';
import { MessageRouter } from '../../pipeline/route/message-router.js';
import { emptyRouted, type RouteContext } from '../../pipeline/route/routed.js';
import type { ConsumedRecord } from '../../topics/contract.js';
import { createDecoder } from '../../gelf/decoder.js';
import { compileRules } from '../../rules/compile/compile.js';
import type { RuleSet } from '../../rules/contract.js';
import { readRuleSource } from '../../rules/loading/source.js';
import { createMappingCoercion, type MappingCoercion } from '../../sinks/index-sets/mapping-coercion.js';
import type { IndexStore } from '../../sinks/stores/contract.js';
import { hash } from '../../load/random.js';
import { gelfMessage } from './documents.js';

interface FillPlan {
  readonly messages: number;
  /** Number of the first message to write. */
  readonly first: number;
  /** Times rise from `endMs - spanMs` to `endMs`, off by a second or two as those of many senders are. */
  readonly spanMs: number;
  readonly endMs: number;
  readonly epoch: Epoch;
}

const seed = 11;
const batchMessages = 5_000;
/** Batches that are written at the same time, each as of a partition of its own. */
const lanes = 2;
const jitterMs = 2_000;
const topic = 'bench.fill';
const run = '0199f2c3a1b2c3d4e5f6';
const maxFields = 900;

interface Filling {
  readonly store: IndexStore;
  readonly plan: FillPlan;
  readonly rules: RuleSet;
  readonly coercion: MappingCoercion;
  readonly context: RouteContext;
}

export async function fillStore(
  store: IndexStore,
  plan: FillPlan,
  onProgress: (written: number) => void,
  signal?: AbortSignal,
): Promise<number> {
  const compiled = compileRules(await readRuleSource('/nonexistent'));
  if ('problems' in compiled) throw new Error('the rules that ship cannot be compiled');
  const coercion = createMappingCoercion({ maxFields });
  const context: RouteContext = {
    decoder: createDecoder(),
    coerce: (index, document) => coercion.coerce(index, document),
    timestampOf: () => 'sender',
  };
  const filling: Filling = { store, plan, rules: compiled.ruleSet, coercion, context };
  for (const index of Object.values(plan.epoch.indices))
    await coercion.prepare(index, (name) => store.indices.fieldTypes(name));
  let next = plan.first;
  const lane = async (partition: number): Promise<void> => {
    while (next < plan.messages && signal?.aborted !== true) {
      const first = next;
      next = Math.min(plan.messages, first + batchMessages);
      await writeBatch(filling, partition, first, next);
      onProgress(next);
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, partition) => lane(partition)));
  for (const index of Object.values(plan.epoch.indices)) await store.indices.checkpoint(index);
  await store.indices.refresh(Object.values(plan.epoch.indices));
  return next;
}

function timeOf({ messages, spanMs, endMs }: FillPlan, number: number): number {
  return Math.min(endMs, Math.round(endMs - spanMs + (spanMs * number) / messages) + (hash(number, 5) % jitterMs));
}

async function writeBatch(
  { store, plan, rules, context }: Filling,
  partition: number,
  first: number,
  end: number,
): Promise<void> {
  const prefix = idPrefix(run, partition);
  const records: ConsumedRecord[] = [];
  for (let number = first; number < end; number += 1) {
    const time = timeOf(plan, number);
    records.push({
      key: mintId(prefix, number),
      offset: number,
      timestamp: time + 300,
      origin: `gelf-tcp 10.0.0.${number % 12}:40000`,
      value: gelfMessage(seed, number, time),
    });
  }
  const routed = emptyRouted();
  new MessageRouter(routed, plan.epoch, rules, context).route(records, 0, records.length, new Set());
  await Promise.all([...routed.byIndex.values()].map((batch) => write(store, batch, partition, end)));
}

async function write(
  store: IndexStore,
  { index, ids, offsets, documents }: IndexBatch,
  partition: number,
  nextOffset: number,
): Promise<void> {
  const { failures } = await store.documents.write({
    index,
    ids,
    offsets,
    documents,
    topic,
    topicGeneration: 1,
    partition,
    nextOffset,
  });
  if (failures.length > 0) throw new Error(`${failures.length} documents were not stored: ${failures[0]?.reason}`);
}
