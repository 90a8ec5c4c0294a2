/** Carries out the delivery protocol: feeds what the consumer reports to each partition's state machine and does what it commands. */
import { buildMetrics, type BuiltMetrics, type Registry } from '../../core/metrics.js';
import { errorText, isSluiceError, toError } from '../../core/errors.js';
import { createBackOff } from '../../core/retry.js';
import { pause } from '../../core/wait.js';
import { noteTraffic } from '../../core/process/young-generation.js';
import { deliverBatch, giveUp, longestPauseMs, parkBatches } from './deliver-batch.js';
import type { DeliverContext } from '../settle/context.js';
import { checkResends, decodeSequences, encodeSequences, type ResendCheck } from '../delivery/sequences.js';
import {
  step,
  unassigned,
  type DeliveryCommand,
  type DeliveryEvent,
  type PartitionState,
} from '../delivery/machine.js';
import { pipelineErrors } from '../errors.js';
import { pipelineMetrics } from '../metrics.js';
import { isBlocking } from '../write/blockages.js';
import { createHeldParking, type HeldParking } from '../parking/partition-parking.js';
import type { IndexBatch } from '../route/route.js';
import type { Assignment, ConsumedBatch, ConsumeHandler } from '../../topics/contract.js';

export interface ProcessOptions extends Omit<DeliverContext, 'metrics'> {
  readonly registry: Registry;
  /** Instead of rule 5's look at the sequences: only to measure what that costs. */
  readonly checkResends?: typeof checkResends | undefined;
}

interface Held {
  readonly topic: string;
  readonly partition: number;
  readonly generation: number;
  /** Of the assignment, for proof of ownership before the first batch. */
  readonly fence: () => Promise<void>;
  state: PartitionState;
  batch: ConsumedBatch | undefined;
  check: ResendCheck | undefined;
  readonly resends: typeof checkResends;
  /** Of the batch under way: what is to be parked when the record says so. */
  blocked: readonly IndexBatch[];
  readonly parking: HeldParking;
  /** A check of what is drained waits for its turn. */
  checking: boolean;
  abandoned: string | undefined;
  committed: { readonly commit: number; readonly metadata: string } | undefined;
  /** Receive time of the first record of the batch under way. */
  oldest: number | undefined;
  /** What is done to this partition is done one after the other. */
  tail: Promise<unknown>;
  gone: boolean;
}

export interface Process extends ConsumeHandler {
  /** Receive time of the oldest message that is being delivered; undefined when none is. */
  oldestInDelivery(): number | undefined;
  /** Lets silent partitions take the newest epoch. Resolves when all have, or have given up. */
  epochAppended(): Promise<void>;
  /** Index sets that partitions held here have parked. */
  parkedSets(): ReadonlySet<string>;
  /** Lets partitions give back what is drained. Resolves when those without a batch under way have. */
  checkDrained(): Promise<void>;
}

export function createProcess(options: ProcessOptions): Process {
  const metrics = buildMetrics(options.registry, pipelineMetrics);
  const context: DeliverContext = { ...options, metrics };
  const partitions = new Map<string, Held>();
  const keyOf = (topic: string, partition: number): string => `${topic}/${partition}`;

  return {
    async assigned(assignment) {
      const generation = await options.topics.generation(assignment.topic);
      const held: Held = {
        topic: assignment.topic,
        partition: assignment.partition,
        generation,
        fence: assignment.fence,
        state: unassigned,
        batch: undefined,
        check: undefined,
        resends: options.checkResends ?? checkResends,
        blocked: [],
        parking: createHeldParking(options.parkingTopics),
        checking: false,
        abandoned: undefined,
        committed: undefined,
        oldest: undefined,
        tail: Promise.resolve(),
        gone: false,
      };
      partitions.set(keyOf(assignment.topic, assignment.partition), held);
      await serially(held, () => assign(context, held, assignment));
    },
    async batch(batch) {
      const held = partitions.get(keyOf(batch.topic, batch.partition));
      if (held === undefined)
        throw pipelineErrors.create('PIPELINE_PARTITION_LOST', { place: keyOf(batch.topic, batch.partition) });
      noteTraffic(batch.records.length);
      return serially(held, () => process(context, metrics, held, batch));
    },
    revoked(topic, partition) {
      const held = partitions.get(keyOf(topic, partition));
      if (held !== undefined) held.gone = true;
      partitions.delete(keyOf(topic, partition));
    },
    async epochAppended() {
      await Promise.all([...partitions.values()].map((held) => serially(held, () => takeEpoch(context, held))));
    },
    parkedSets: () => new Set([...partitions.values()].flatMap(parkedBy)),
    async checkDrained() {
      const idle: Promise<void>[] = [];
      for (const held of partitions.values()) {
        if (held.checking || parkedBy(held).length === 0) continue;
        held.checking = true;
        const done = serially(held, () => giveBack(context, held)).finally(() => {
          held.checking = false;
        });
        if (held.batch === undefined) idle.push(done);
      }
      await Promise.all(idle);
    },
    oldestInDelivery() {
      let oldest: number | undefined;
      for (const held of partitions.values())
        if (held.oldest !== undefined && (oldest === undefined || held.oldest < oldest)) oldest = held.oldest;
      return oldest;
    },
  };
}

function serially<Result>(held: Held, work: () => Promise<Result>): Promise<Result> {
  const done = held.tail.then(work);
  held.tail = done.catch(() => undefined);
  return done;
}

const parkedBy = (held: Held): readonly string[] => Object.keys(held.state.held?.record.parked ?? {});

/** Rule 9: what this partition parked is stored, so newer messages are written again. */
async function giveBack(context: DeliverContext, held: Held): Promise<void> {
  for (const indexSet of parkedBy(held)) {
    if (held.gone || held.state.phase !== 'ready') return;
    try {
      if (!(await held.parking.isDrained(indexSet))) continue;
      await run(context, held, { type: 'drained', indexSet });
      context.log.info(
        { topic: held.topic, partition: held.partition, index_set: indexSet },
        'what was parked is drained; the index set is written again',
      );
    } catch (error) {
      context.log.warn(
        { topic: held.topic, partition: held.partition, index_set: indexSet, error: errorText(error) },
        'a partition could not see whether what it parked is drained; trying again',
      );
    }
  }
}

async function takeEpoch(context: DeliverContext, held: Held): Promise<void> {
  const latestEpoch = context.ledger.latestEpoch()?.number;
  if (latestEpoch === undefined || held.gone || held.state.phase !== 'ready') return;
  await run(context, held, { type: 'epoch_appended', latestEpoch }).catch((error: unknown) => {
    context.log.warn(
      { topic: held.topic, partition: held.partition, error: errorText(error) },
      'a silent partition could not take the new epoch; its next batch will',
    );
  });
}

async function assign(context: DeliverContext, held: Held, assignment: Assignment): Promise<void> {
  await context.ledger.refresh();
  const sequences = decodeSequences(assignment.committed?.metadata ?? '');
  const highestMarker = await markerOf(context, held, assignment.logEnd);
  const { groupGeneration, position, logEnd } = assignment;
  await run(context, held, { type: 'assigned', groupGeneration, position, logEnd, highestMarker, sequences });
}

/** Epochs whose indices are asked for their markers; what a crash can leave unsettled lies in the newest. */
const markedEpochs = 3;

/** Rule 11: the largest marker of this partition among the newest indices of all sets. */
async function markerOf(context: DeliverContext, held: Held, logEnd: number): Promise<number> {
  if (context.store.capabilities().deduplicates !== 'offset') return 0;
  let highest = 0;
  const newest = context.ledger.latestEpoch()?.number ?? -1;
  const recent = [...context.ledger.epochs().values()].filter((epoch) => epoch.number > newest - markedEpochs);
  for (const index of new Set(recent.flatMap((epoch) => Object.values(epoch.indices)))) {
    const found = await context.ledger.indexState(index);
    if (found?.value.state !== 'open') continue;
    try {
      const markers = await context.store.documents.markers(index, held.topic, held.generation);
      highest = Math.max(highest, markers.get(held.partition) ?? 0);
    } catch (error) {
      // It is at most the log end, and a cut may lie higher than it has to.
      if (!isSluiceError(error) || !isBlocking(error.code)) throw error;
      highest = Math.max(highest, logEnd);
    }
  }
  return highest;
}

async function process(
  context: DeliverContext,
  metrics: BuiltMetrics<typeof pipelineMetrics>,
  held: Held,
  batch: ConsumedBatch,
): Promise<{ commit: number; metadata: string }> {
  const first = batch.records[0];
  if (first === undefined) return { commit: batch.nextOffset, metadata: encodeSequences(held.state.sequences) };
  held.batch = batch;
  held.oldest = first.timestamp;
  try {
    if (held.state.phase === 'abandoned') await reassign(context, held, batch);
    await letDrain(context, held);
    metrics.consumed.inc({ topic: batch.topic }, batch.records.length);
    held.check = held.resends(batch.records, held.state.sequences);
    await run(context, held, {
      type: 'fetched',
      first: first.offset,
      next: batch.nextOffset,
      latestEpoch: context.ledger.latestEpoch()?.number ?? -1,
    });
    if (held.committed === undefined)
      throw pipelineErrors.create('PIPELINE_PARTITION_LOST', {
        place: `${held.topic}/${held.partition}`,
        got: held.abandoned,
      });
    reportGaps(context, metrics, held);
    return held.committed;
  } finally {
    giveUp(context, held.blocked);
    held.blocked = [];
    held.batch = undefined;
    held.oldest = undefined;
  }
}

/** Where newer messages are parked behind older ones: the parking must end although new ones keep coming. */
async function letDrain(context: DeliverContext, held: Held): Promise<void> {
  const parked = parkedBy(held);
  if (parked.length === 0) return;
  for (const indexSet of parked) await held.parking.awaitDrain(indexSet, context.signal).catch(() => undefined);
  await giveBack(context, held);
}

/** A partition that was abandoned on a conflict but has not been taken away: take it over anew from the last commit. */
async function reassign(context: DeliverContext, held: Held, batch: ConsumedBatch): Promise<void> {
  if (batch.revoked())
    throw pipelineErrors.create('PIPELINE_PARTITION_LOST', { place: `${held.topic}/${held.partition}` });
  const { sequences } = held.state;
  const position = batch.records[0]?.offset ?? batch.nextOffset;
  await context.ledger.refresh();
  await run(context, held, {
    type: 'assigned',
    groupGeneration: batch.groupGeneration,
    position,
    logEnd: batch.logEnd,
    highestMarker: await markerOf(context, held, batch.logEnd),
    sequences,
  });
}

function reportGaps(context: DeliverContext, metrics: BuiltMetrics<typeof pipelineMetrics>, held: Held): void {
  const { check, topic, partition } = held;
  if (check === undefined) return;
  metrics.missing.inc({ topic }, check.missing);
  metrics.runsEvicted.inc({ topic }, check.evicted);
  if (check.missing > 0)
    context.log.error({ topic, partition, missing: check.missing }, 'accepted records are missing from the topic');
  if (check.evicted > 0)
    context.log.warn(
      { topic, partition, evicted: check.evicted },
      'receiver runs were forgotten; a resend of theirs could be stored twice',
    );
}

/** Steps the machine until it waits for the next event from outside. */
async function run(context: DeliverContext, held: Held, event: DeliveryEvent): Promise<void> {
  held.committed = undefined;
  held.abandoned = undefined;
  let next: DeliveryEvent | undefined = event;
  while (next !== undefined) {
    const { state, commands } = step(held.state, next);
    held.state = state;
    next = undefined;
    for (const command of commands) next = await carryOut(context, held, command);
  }
  if (held.abandoned !== undefined)
    context.log.warn({ topic: held.topic, partition: held.partition, reason: held.abandoned }, 'partition given up');
}

async function carryOut(
  context: DeliverContext,
  held: Held,
  command: DeliveryCommand,
): Promise<DeliveryEvent | undefined> {
  const { ledger, store } = context;
  const { topic, generation, partition } = held;
  switch (command.type) {
    case 'read_record': {
      held.parking.reset();
      const found = await persist(context, held, () => ledger.partitionRecord(topic, generation, partition));
      const stillOwner = await persist(context, held, () => isStillOwner(held));
      return { type: 'record_read', found, latestEpoch: ledger.latestEpoch()?.number ?? -1, stillOwner };
    }
    case 'write_record':
      return writeRecord(context, held, command);
    case 'read_marks': {
      const epoch = await ledger.epoch(command.epoch);
      const states = await persist(context, held, () => ledger.indexStates());
      const retired = Object.values(epoch?.indices ?? {}).some(
        (index) => (states.get(index)?.value.state ?? 'open') !== 'open',
      );
      if (retired) await ledger.refresh();
      return { type: 'marks_read', retired, latestEpoch: ledger.latestEpoch()?.number ?? command.epoch };
    }
    case 'deliver':
      return deliver(context, held, command);
    case 'park':
      return park(context, held, command);
    case 'sync':
      for (const index of command.indices)
        await persist(context, held, () => store.documents.sync(index).catch(unlessGone));
      return { type: 'synced' };
    case 'commit':
      held.committed = { commit: command.offset, metadata: encodeSequences(command.sequences) };
      return undefined;
    case 'ready':
      return undefined;
    case 'abandon':
      held.abandoned = command.reason;
      return undefined;
  }
}

/** Rule 2, asked after the record was read: a processor that was paused does not know by itself that its partition is another's now. */
async function isStillOwner({ batch, fence }: Held): Promise<boolean> {
  try {
    await (batch === undefined ? fence() : batch.fence());
    return true;
  } catch (error) {
    if (isSluiceError(error) && error.code === 'TOPIC_PARTITION_REVOKED') return false;
    throw error;
  }
}

/** A write whose answer was lost looks like a conflict with ourselves: what stands there decides. */
async function writeRecord(
  context: DeliverContext,
  held: Held,
  command: Extract<DeliveryCommand, { type: 'write_record' }>,
): Promise<DeliveryEvent> {
  const { ledger } = context;
  const { topic, generation, partition } = held;
  const revision = await persist(context, held, () =>
    ledger.writePartitionRecord(topic, generation, partition, command.record, command.expected),
  );
  if (revision !== undefined) return { type: 'record_written', revision };
  const found = await persist(context, held, () => ledger.partitionRecord(topic, generation, partition));
  if (found !== undefined && JSON.stringify(found.record) === JSON.stringify(command.record))
    return { type: 'record_written', revision: found.revision };
  return { type: 'record_conflict' };
}

async function deliver(
  context: DeliverContext,
  held: Held,
  command: Extract<DeliveryCommand, { type: 'deliver' }>,
): Promise<DeliveryEvent> {
  const { batch, check, generation } = held;
  if (batch === undefined || check === undefined) return { type: 'failed' };
  command.park.forEach((indexSet) => held.parking.appended(indexSet));
  try {
    const delivery = { batch, generation, spans: command.spans, park: new Set(command.park), skip: check.resent };
    const { alreadyStoredIn, blocked } = await deliverBatch(context, delivery);
    held.blocked = blocked;
    const outcome = { alreadyStoredIn, sequences: check.after };
    return blocked.length === 0
      ? { type: 'stored', ...outcome }
      : { type: 'blocked', indexSets: [...new Set(blocked.map(({ indexSet }) => indexSet))], ...outcome };
  } catch (error) {
    throw failed(held, error);
  }
}

async function park(
  context: DeliverContext,
  held: Held,
  command: Extract<DeliveryCommand, { type: 'park' }>,
): Promise<DeliveryEvent> {
  const { batch, generation, blocked } = held;
  if (batch === undefined) return { type: 'failed' };
  context.log.error(
    { topic: held.topic, partition: held.partition, index_sets: command.indexSets },
    'index sets take no writes: their messages are parked until they do',
  );
  command.indexSets.forEach((indexSet) => held.parking.appended(indexSet));
  held.blocked = [];
  try {
    await parkBatches(context, { batch, generation, spans: command.spans }, blocked);
    return { type: 'parked' };
  } catch (error) {
    throw failed(held, error);
  }
}

function failed(held: Held, error: unknown): Error {
  held.state = step(held.state, { type: 'failed' }).state;
  return toError(error);
}

/** An index that is missing has nothing to sync; one that was closed has been synced by that. */
function unlessGone(error: unknown): void {
  if (!isSluiceError(error) || (error.code !== 'STORE_INDEX_MISSING' && error.code !== 'STORE_INDEX_CLOSED'))
    throw error;
}

/** Repeats while the engine is away; gives up when the partition is lost or the program stops. */
async function persist<Result>(context: DeliverContext, held: Held, action: () => Promise<Result>): Promise<Result> {
  const backOff = createBackOff(100, longestPauseMs);
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (isSluiceError(error) && !error.retryable) throw error;
      if (context.signal.aborted || held.gone || held.batch?.revoked() === true)
        throw pipelineErrors.create('PIPELINE_PARTITION_LOST', {
          place: `${held.topic}/${held.partition}`,
          cause: error,
        });
      context.log.warn(
        { topic: held.topic, partition: held.partition, error: errorText(error) },
        'the engine does not answer; trying again',
      );
      await pause(backOff(), context.signal);
    }
  }
}
