/**
 * A small world around the replay of one dead letter: indices of two sets that rotate and retire, operators that replay
 * side by side, pause, wake up and crash, writes that are applied late, mappings that refuse and do not. Everything is
 * decided by a seeded generator, so a failure is replayed by its seed.
 */
import {
  idleReplay,
  stepReplay,
  type DeadLetterState,
  type Replay,
  type ReplayCommand,
  type ReplayEvent,
  type SetOutcome,
  type Tombstones,
} from '../../../pipeline/dead-letters/replay-machine.js';

interface Copy {
  readonly tombstone: boolean;
  readonly revision: number;
}

interface Index {
  readonly name: string;
  readonly set: string;
  refuses: boolean;
  retired: boolean;
  copy: Copy | undefined;
}

interface Write {
  readonly index: Index;
  /** Revision of the tombstone that it replaces; undefined: create. */
  readonly replaces: number | undefined;
}

interface Operator {
  state: Replay;
  pending: ReplayCommand[];
  /** A write under way, step by step: others act between two of its requests. */
  writing: Generator<undefined, readonly SetOutcome[] | undefined> | undefined;
  finished: boolean;
}

export interface Drops {
  /** Replaces whatever tombstone stands there, instead of the recorded one. */
  readonly recordedTombstones?: boolean;
  /** Chooses the newest epoch at each attempt, instead of the recorded one. */
  readonly recordedTarget?: boolean;
  /** Leaves the tombstone as it is when the message is refused again. */
  readonly renewedTombstones?: boolean;
}

/** mulberry32 */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Runs one world to rest; returns what is wrong with it, or undefined. */
export function simulateReplay(seed: number, drops: Drops = {}): string | undefined {
  const random = createRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const trace: string[] = [];
  /**
   * A dead letter of a refused document has one set, one of input that could not be decoded as many as it is routed to.
   */
  const sets = random() < 0.5 ? ['a'] : ['a', 'b'];
  const refusedDocument = sets.length === 1 && random() < 0.7;
  const indices: Index[] = sets.map((set) => ({
    name: `${set}_0`,
    set,
    refuses: random() < 0.5,
    retired: false,
    copy: undefined,
  }));
  const epochs: Index[][] = [[...indices]];
  let revisions = 1;
  let deadLetter = { state: 'open', replays: 0 } as DeadLetterState;
  let deadLetterRevision = 0;
  /** Letters split off, by set: stored is the end of their own replay, which this world does not play. */
  const splitOff = new Set<string>();
  const late: Write[] = [];
  const operators: Operator[] = [];
  if (refusedDocument) {
    const first = indices[0] as Index;
    first.copy = { tombstone: true, revision: revisions++ };
    if (random() < 0.5) late.push({ index: first, replaces: undefined });
  }

  /** How often the bytes are found to be no message. */
  let unusable = 0.05;
  const latest = (): number => epochs.length - 1;
  const targetOf = (epoch: number): Index[] => epochs[epoch] as Index[];
  const apply = ({ index, replaces }: Write): 'stored' | 'conflict' | 'refused' | 'retired' => {
    if (index.retired) return 'retired';
    if (index.copy !== undefined && (replaces === undefined || index.copy.revision !== replaces)) return 'conflict';
    if (index.copy === undefined && replaces !== undefined) return 'conflict';
    if (index.refuses) return 'refused';
    index.copy = { tombstone: false, revision: revisions++ };
    return 'stored';
  };
  /** The outcome in one index; undefined when no answer came. */
  function* writeOne(index: Index, tombstones: Tombstones): Generator<undefined, SetOutcome | undefined> {
    const { set: indexSet } = index;
    const recorded =
      drops.recordedTombstones === true
        ? index.copy?.tombstone === true
          ? index.copy.revision
          : undefined
        : tombstones[index.name] === undefined
          ? undefined
          : Number(tombstones[index.name]);
    const write: Write = { index, replaces: recorded };
    const fate = random();
    if (fate < 0.15) {
      late.push(write);
      return undefined;
    }
    const answer = apply(write);
    trace.push(`  write ${index.name} ${recorded ?? 'create'}: ${answer}`);
    if (fate < 0.25) return undefined;
    yield;
    if (answer === 'retired' || answer === 'stored') return { indexSet, outcome: answer };
    if (index.retired) return { indexSet, outcome: 'retired' };
    if (answer === 'conflict') return { indexSet, outcome: index.copy?.tombstone === false ? 'stored' : 'refused' };
    const { copy } = index;
    if (copy === undefined || (copy.tombstone && copy.revision === recorded && drops.renewedTombstones !== true))
      index.copy = { tombstone: true, revision: revisions++ };
    yield;
    if (index.retired) return { indexSet, outcome: 'retired' };
    return { indexSet, outcome: index.copy?.tombstone === false ? 'stored' : 'refused' };
  }
  function* writeAll(epoch: number, tombstones: Tombstones): Generator<undefined, readonly SetOutcome[] | undefined> {
    const outcomes: SetOutcome[] = [];
    for (const index of targetOf(epoch)) {
      const outcome = yield* writeOne(index, tombstones);
      if (outcome === undefined) return undefined;
      outcomes.push(outcome);
    }
    return outcomes;
  }
  const feed = (operator: Operator, event: ReplayEvent): void => {
    const { state, commands } = stepReplay(operator.state, event);
    operator.state = state;
    operator.pending = [...commands];
    trace.push(
      `operator ${operators.indexOf(operator)} ${event.type} -> ${commands.map(({ type }) => type).join()} [${state.phase}]`,
    );
  };
  const tombstonesNow = (epoch: number): Tombstones =>
    Object.fromEntries(
      targetOf(epoch).flatMap(({ name, copy }) => (copy?.tombstone === true ? [[name, String(copy.revision)]] : [])),
    );
  const goOn = (operator: Operator): void => {
    const step = operator.writing?.next();
    if (step?.done !== true) return;
    operator.writing = undefined;
    // No answer: the replay ends here, and the dead letter keeps its target.
    if (step.value === undefined) operator.finished = true;
    else feed(operator, { type: 'written', outcomes: step.value });
  };
  const carryOut = (operator: Operator): void => {
    if (operator.writing !== undefined) return goOn(operator);
    const command = operator.pending.shift();
    switch (command?.type) {
      case undefined:
        return;
      case 'read':
        return feed(operator, {
          type: 'read',
          deadLetter,
          revision: String(deadLetterRevision),
          epoch: latest(),
          tombstones: tombstonesNow(latest()),
          unusable: unusable > 0 && random() < unusable,
        });
      case 'put':
        if (command.expected !== String(deadLetterRevision)) return feed(operator, { type: 'conflict' });
        deadLetter = command.deadLetter;
        deadLetterRevision += 1;
        trace.push(`  letter ${JSON.stringify(deadLetter)}`);
        return feed(operator, { type: 'put', revision: String(deadLetterRevision) });
      case 'write':
        operator.writing = writeAll(drops.recordedTarget === true ? latest() : command.epoch, command.tombstones);
        return;
      case 'split':
        command.indexSets.forEach((set) => splitOff.add(set));
        return feed(operator, { type: 'split' });
      case 'done':
        operator.finished = true;
    }
  };
  const act = (): void => {
    const dice = random();
    const running = operators.filter(({ finished }) => !finished);
    if (dice < 0.15 && running.length < 3) {
      const operator: Operator = { state: idleReplay, pending: [], writing: undefined, finished: false };
      operators.push(operator);
      feed(operator, { type: 'chosen' });
    } else if (dice < 0.65 && running.length > 0) carryOut(pick(running));
    else if (dice < 0.72) {
      const set = pick(sets);
      const index: Index = {
        name: `${set}_${epochs.length}`,
        set,
        refuses: random() < 0.4,
        retired: false,
        copy: undefined,
      };
      indices.push(index);
      epochs.push(targetOf(latest()).map((current) => (current.set === set ? index : current)));
      trace.push(`rotate to ${index.name}`);
    } else if (dice < 0.82) {
      const index = pick(indices);
      index.refuses = !index.refuses;
    } else if (dice < 0.86) {
      const index = pick(indices);
      if (!targetOf(latest()).includes(index)) index.retired = true;
      if (index.retired) trace.push(`retired ${index.name}`);
    } else if (dice < 0.92 && late.length > 0) trace.push(`late ${apply(late.shift() as Write)}`);
    else if (dice < 0.95 && running.length > 0) pick(running).finished = true;
  };

  for (let turn = 0; turn < 150; turn += 1) act();
  // At rest: what is on its way arrives, paused operators go on, nothing refuses any more, and replays are repeated
  // until the dead letter is settled.
  for (const write of late.splice(0)) apply(write);
  for (const index of indices) index.refuses = false;
  unusable = 0;
  for (let round = 0; round < 500; round += 1) {
    for (const operator of operators.filter(({ finished }) => !finished)) carryOut(operator);
    if (operators.every(({ finished }) => finished)) {
      if (deadLetter.state === 'replayed') break;
      const operator: Operator = { state: idleReplay, pending: [], writing: undefined, finished: false };
      operators.push(operator);
      feed(operator, { type: 'chosen' });
    }
  }
  for (const write of late.splice(0)) apply(write);
  for (const set of sets) {
    const copies = indices.filter((index) => index.set === set && index.copy?.tombstone === false);
    const there = copies.filter(({ retired }) => !retired).length;
    const wrong =
      there > 1
        ? 'doubled'
        : there > 0 && splitOff.has(set)
          ? 'stored and dead-lettered'
          : copies.length === 0 && !splitOff.has(set)
            ? 'missing'
            : undefined;
    if (wrong !== undefined)
      return `seed ${seed}: ${wrong} in set ${set}: ${copies.map(({ name }) => name).join()}\n${trace.join('\n')}`;
  }
  return deadLetter.state === 'replayed'
    ? undefined
    : `seed ${seed}: the letter stays ${JSON.stringify(deadLetter)}\n${trace.join('\n')}`;
}
