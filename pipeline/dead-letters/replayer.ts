/**
 * Carries out replays of a page of dead letters in step with each other: reads, puts and writes of all go to the store
 * together.
 */
import { isSluiceError } from '../../core/errors.js';
import type { IndexStore } from '../../sinks/stores/contract.js';
import type { TopicRecord } from '../../topics/contract.js';
import type { DeadLetterResult } from './contract.js';
import { groupBy } from './group.js';
import { deadLetterRecord } from '../dead-letter.js';
import type { Unusable } from './message.js';
import { planOf, type Plan, type PlanContext } from './plan.js';
import {
  idleReplay,
  stepReplay,
  type DeadLetterState,
  type Replay,
  type ReplayCommand,
  type ReplayEvent,
  type SetOutcome,
} from './replay-machine.js';
import { stateOf, textOf, withState, type DeadLetter } from './state.js';
import { writeMessages, type MessageWrite, type Written } from './write-messages.js';

interface ReplayerContext extends PlanContext {
  readonly now: () => number;
}

interface Task {
  readonly id: string;
  readonly place: string;
  state: Replay;
  command: ReplayCommand | undefined;
  deadLetter: DeadLetter | undefined;
  plan: Plan | undefined;
  /** Why it failed again, by index set; the empty one for what is no message. */
  readonly reasons: Map<string, Unusable & { readonly index?: string }>;
  result: DeadLetterResult | undefined;
}

/**
 * Results by dead letter, in the order given. When it rejects, what was not settled keeps its state, and can be
 * replayed again.
 */
export async function replayDeadLetters(
  deadLetters: readonly Pick<DeadLetter, 'id' | 'place'>[],
  context: ReplayerContext,
): Promise<DeadLetterResult[]> {
  const tasks = deadLetters.map(
    ({ id, place }): Task => ({
      id,
      place,
      state: idleReplay,
      command: undefined,
      deadLetter: undefined,
      plan: undefined,
      reasons: new Map(),
      result: undefined,
    }),
  );
  for (const task of tasks) feed(task, { type: 'chosen' });
  for (;;) {
    const open = tasks.filter((task) => task.result === undefined);
    if (open.length === 0) return tasks.map((task) => task.result as DeadLetterResult);
    const of = (type: ReplayCommand['type']): Task[] => open.filter((task) => task.command?.type === type);
    await read(of('read'), context);
    await put(of('put'), context);
    await write(of('write'), context);
    await split(of('split'), context);
  }
}

function feed(task: Task, event: ReplayEvent): void {
  const { state, commands } = stepReplay(task.state, event);
  task.state = state;
  task.command = commands[0];
  if (task.command?.type === 'done') task.result = task.command.result;
}

function byPlace(tasks: readonly Task[]): Map<string, Task[]> {
  return groupBy(tasks, ({ place }) => place);
}

async function read(tasks: readonly Task[], context: ReplayerContext): Promise<void> {
  const { store } = context.deliver;
  for (const [place, group] of byPlace(tasks)) {
    const found = await store.documents.read(
      place,
      group.map(({ id }) => id),
    );
    for (const task of group) {
      const one = found.get(task.id);
      task.deadLetter =
        one === undefined ? undefined : { id: task.id, place, revision: one.revision, document: one.document };
      const state = task.deadLetter === undefined ? undefined : stateOf(task.deadLetter.document);
      const plan =
        task.deadLetter === undefined || (state?.state !== 'open' && state?.state !== 'targeted')
          ? undefined
          : await planOf(task.deadLetter, context);
      if (plan !== undefined && 'code' in plan) task.reasons.set('', plan);
      task.plan = plan === undefined || 'code' in plan ? undefined : plan;
    }
  }
  const tombstones = await tombstonesOf(tasks, store);
  for (const task of tasks) {
    const { deadLetter, plan } = task;
    const state = deadLetter === undefined ? undefined : stateOf(deadLetter.document);
    feed(task, {
      type: 'read',
      deadLetter: state,
      revision: deadLetter?.revision ?? '',
      epoch: plan?.epoch ?? -1,
      tombstones: tombstones.get(task) ?? {},
      unusable: plan === undefined,
    });
  }
}

/** The tombstones that stand in the targets, before they are recorded. */
async function tombstonesOf(tasks: readonly Task[], store: IndexStore): Promise<Map<Task, Record<string, string>>> {
  const tombstones = new Map<Task, Record<string, string>>();
  if (store.capabilities().deduplicates !== 'id') return tombstones;
  const wanted = tasks.flatMap((task) =>
    (task.plan?.targets ?? []).map(({ index }) => ({ task, index, id: task.plan?.message.record.key ?? '' })),
  );
  for (const [index, group] of groupBy(wanted, (one) => one.index)) {
    const found = await store.documents
      .read(
        index,
        group.map(({ id }) => id),
      )
      .catch((error: unknown) => {
        // A target that is blocked or gone is met again when it is written to.
        if (isSluiceError(error) && /^STORE_INDEX_/.test(error.code)) return new Map<string, never>();
        throw error;
      });
    for (const { task, id } of group) {
      const one = found.get(id);
      if (one?.tombstone === true) tombstones.set(task, { ...tombstones.get(task), [index]: one.revision });
    }
  }
  return tombstones;
}

async function put(tasks: readonly Task[], context: ReplayerContext): Promise<void> {
  const { store } = context.deliver;
  for (const [place, group] of byPlace(tasks)) {
    const documents = group.map((task) => documentOf(task, context));
    const revisions = await store.documents.update(
      place,
      group.map((task, at) => ({
        id: task.id,
        document: JSON.stringify(documents[at]),
        expected: putOf(task).expected,
      })),
    );
    for (const [at, task] of group.entries()) {
      const revision = revisions[at] ?? (await ownRevision(task, store));
      if (revision === undefined) feed(task, { type: 'conflict' });
      else {
        task.deadLetter = { id: task.id, place, revision, document: documents[at] ?? {} };
        feed(task, { type: 'put', revision });
      }
    }
  }
}

/** A put whose answer was lost looks like somebody else's: what stands there decides. */
async function ownRevision(task: Task, store: IndexStore): Promise<string | undefined> {
  const now = (await store.documents.read(task.place, [task.id])).get(task.id);
  return now !== undefined && JSON.stringify(stateOf(now.document)) === JSON.stringify(putOf(task).deadLetter)
    ? now.revision
    : undefined;
}

function putOf(task: Task): Extract<ReplayCommand, { type: 'put' }> {
  return task.command as Extract<ReplayCommand, { type: 'put' }>;
}

function documentOf(task: Task, { now }: ReplayerContext): Readonly<Record<string, unknown>> {
  const next: DeadLetterState = putOf(task).deadLetter;
  const time = new Date(now()).toISOString();
  const { code, reason, index } = task.reasons.values().next().value ?? {};
  const failed = {
    ...(code === undefined ? {} : { code, message: reason }),
    ...(index === undefined ? {} : { index }),
  };
  const changes =
    next.state === 'replayed'
      ? { replayed_at: time }
      : task.state.phase === 'targeting'
        ? { replay_started_at: time }
        : failed;
  return withState(task.deadLetter?.document ?? {}, next, changes);
}

async function write(tasks: readonly Task[], context: ReplayerContext): Promise<void> {
  const { forwarder } = context.deliver.route;
  const writes = tasks.flatMap((task): (MessageWrite & { task: Task })[] =>
    (task.plan?.targets ?? []).map((batch) => ({ task, batch, tombstone: tombstoneFor(task, batch.index) })),
  );
  const written = await writeMessages(writes, context.deliver);
  for (const task of tasks)
    if ((task.plan?.forwards.size ?? 0) > 0) await forwarder?.deliver((task.plan as Plan).forwards);
  const results = groupBy(written.entries(), ([at]) => writes[at]?.task);
  for (const task of tasks) {
    const own = (results.get(task) ?? []).map(([, one]) => one);
    if (own.some(({ outcome }) => outcome === 'unanswered')) task.result = 'left';
    else settle(task, own);
  }
}

function tombstoneFor(task: Task, index: string): string | undefined {
  const { command } = task;
  return command?.type === 'write' ? command.tombstones[index] : undefined;
}

function settle(task: Task, written: readonly Written[]): void {
  for (const { indexSet, index, reason } of written)
    if (reason !== undefined) task.reasons.set(indexSet, { ...reason, index });
  feed(task, {
    type: 'written',
    outcomes: written.map(({ indexSet, outcome }) => ({ indexSet, outcome: outcome as SetOutcome['outcome'] })),
  });
}

/** Each index set that has not stored the message gets a dead letter of its own, as after any delivery. */
async function split(tasks: readonly Task[], { deliver }: ReplayerContext): Promise<void> {
  const records = tasks.flatMap((task) =>
    (task.command as Extract<ReplayCommand, { type: 'split' }>).indexSets.map((indexSet) =>
      splitDeadLetter(task, indexSet),
    ),
  );
  if (records.length > 0) await deliver.topics.append(deliver.deadLettersTopic, 0, records);
  for (const task of tasks) feed(task, { type: 'split' });
}

function splitDeadLetter(task: Task, indexSet: string): TopicRecord {
  const { deadLetter, plan } = task as { deadLetter: DeadLetter; plan: Plan };
  const { record, raw } = plan.message;
  const { code, reason, index } = task.reasons.get(indexSet) ?? {
    code: 'DEAD_LETTER_TARGET_RETIRED',
    reason: 'The index was removed while the message was replayed.',
  };
  return deadLetterRecord({
    key: record.key,
    record,
    raw,
    code,
    reason,
    indexSet,
    index: index ?? '',
    origin: textOf(deadLetter.document, 'origin'),
    replays: stateOf(deadLetter.document).replays + 1,
  });
}
