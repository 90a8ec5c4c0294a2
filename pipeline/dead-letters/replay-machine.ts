/**
 * Delivery protocol, rule 13: one operator's replay of one dead letter, as a pure state machine (events in, commands
 * out; no I/O, no clock). The dead letter itself is the durable record: every change of it is a compare-and-set, and
 * nothing is written to an index before the dead letter says where. So a crash at any point, a second replay beside the
 * first and a write that is applied a minute late all meet the message's own id in the index that the dead letter
 * names.
 *
 * A tombstone of the message may stand in the target index (rule 10). It gives way only in the revision that the dead
 * letter recorded with its target: whoever sees the message refused there again writes the tombstone anew, and what is
 * still on its way from before then fits nowhere. A new target is chosen only when that is done.
 */

/** What the dead letter remembers; kept in its own document. */
export type DeadLetterState =
  | { readonly state: 'open'; readonly replays: number }
  /** A replay has begun: the message may stand in the indices of this epoch, and nowhere else. */
  | { readonly state: 'targeted'; readonly replays: number; readonly epoch: number; readonly tombstones: Tombstones }
  | { readonly state: 'replayed'; readonly replays: number; readonly epoch: number }
  | { readonly state: 'dropped'; readonly replays: number };

/**
 * Revision of the message's tombstone by concrete index, as it stood when the target was chosen; none for indices
 * without one.
 */
export type Tombstones = Readonly<Record<string, string>>;

/** What became of the message in one index set of the target epoch. */
export interface SetOutcome {
  readonly indexSet: string;
  /**
   * `stored`: there under its own id, by this write or an earlier one, and durable. `refused`: the index does not take
   * it, and a tombstone that no write on its way can replace stands there. `retired`: the index is gone on purpose
   * (rule 6).
   */
  readonly outcome: 'stored' | 'refused' | 'retired';
}

export type ReplayEvent =
  | { readonly type: 'chosen' }
  /**
   * The dead letter as it is now; undefined when it is gone. `epoch` and `tombstones`: the target that a dead letter
   * without one gets. `unusable`: its bytes are (still) no message, or the index set is no more.
   */
  | {
      readonly type: 'read';
      readonly deadLetter: DeadLetterState | undefined;
      readonly revision: string;
      readonly epoch: number;
      readonly tombstones: Tombstones;
      readonly unusable?: boolean;
    }
  | { readonly type: 'put'; readonly revision: string }
  | { readonly type: 'conflict' }
  /** Every index set has answered; none: a rule dropped the message. */
  | { readonly type: 'written'; readonly outcomes: readonly SetOutcome[] }
  | { readonly type: 'split' };

export type ReplayCommand =
  | { readonly type: 'read' }
  | { readonly type: 'put'; readonly deadLetter: DeadLetterState; readonly expected: string }
  /**
   * Writes the message under its own id to every index set that the epoch's rules name (one dead letter, one set: to
   * that), bypassing rule 5.
   */
  | { readonly type: 'write'; readonly epoch: number; readonly tombstones: Tombstones }
  /** Of a message for several sets: appends a dead letter of its own for each of these, which have not stored it. */
  | { readonly type: 'split'; readonly indexSets: readonly string[] }
  | { readonly type: 'done'; readonly result: ReplayResult };

/** `elsewhere`: another replay has gone on with it. `skipped`: it was not open. */
export type ReplayResult = 'replayed' | 'failed' | 'elsewhere' | 'skipped' | 'gone';

export interface Replay {
  readonly phase: 'idle' | 'reading' | 'targeting' | 'writing' | 'splitting' | 'settling' | 'done';
  readonly deadLetter: DeadLetterState | undefined;
  readonly revision: string;
  /** The dead letter's next state, until it is written. */
  readonly next: DeadLetterState | undefined;
  readonly races: number;
}

interface ReplayStep {
  readonly state: Replay;
  readonly commands: readonly ReplayCommand[];
}

export const idleReplay: Replay = { phase: 'idle', deadLetter: undefined, revision: '', next: undefined, races: 0 };

/** Lost races for one target; each means that another replay has the dead letter. */
const maxRaces = 5;

export function stepReplay(state: Replay, event: ReplayEvent): ReplayStep {
  switch (event.type) {
    case 'chosen':
      return { state: { ...idleReplay, phase: 'reading' }, commands: [{ type: 'read' }] };
    case 'read':
      return begin(state, event);
    case 'put':
      return put(state, event.revision);
    case 'conflict':
      return conflict(state);
    case 'written':
      return settle(state, event.outcomes);
    case 'split':
      return state.next === undefined ? done(state, 'elsewhere') : write(state, state.next, 'settling');
  }
}

function begin(state: Replay, event: Extract<ReplayEvent, { type: 'read' }>): ReplayStep {
  const { deadLetter, revision, epoch, tombstones } = event;
  if (deadLetter === undefined) return done(state, 'gone');
  const read = { ...state, deadLetter, revision };
  if (deadLetter.state !== 'open' && deadLetter.state !== 'targeted') return done(read, 'skipped');
  // A dead letter with a target keeps it: an earlier attempt may have stored the message there.
  if (event.unusable === true) return write(read, { ...deadLetter, replays: deadLetter.replays + 1 }, 'settling');
  if (deadLetter.state === 'targeted')
    return {
      state: { ...read, phase: 'writing' },
      commands: [{ type: 'write', epoch: deadLetter.epoch, tombstones: deadLetter.tombstones }],
    };
  return write(read, { state: 'targeted', replays: deadLetter.replays, epoch, tombstones }, 'targeting');
}

function write(state: Replay, deadLetter: DeadLetterState, phase: Replay['phase']): ReplayStep {
  return {
    state: { ...state, phase, next: deadLetter },
    commands: [{ type: 'put', deadLetter, expected: state.revision }],
  };
}

function put(state: Replay, revision: string): ReplayStep {
  const { next, phase } = state;
  const held = { ...state, revision, deadLetter: next, next: undefined };
  if (phase === 'targeting' && next?.state === 'targeted')
    return {
      state: { ...held, phase: 'writing' },
      commands: [{ type: 'write', epoch: next.epoch, tombstones: next.tombstones }],
    };
  if (next?.state === 'replayed') return done(held, 'replayed');
  // Only retired targets lead to an open dead letter without another attempt counted: choose the next one at once.
  if (next?.state === 'open' && next.replays === state.deadLetter?.replays) return again(held);
  return done(held, 'failed');
}

function again(state: Replay): ReplayStep {
  if (state.races >= maxRaces) return done(state, 'elsewhere');
  return { state: { ...state, phase: 'reading', races: state.races + 1 }, commands: [{ type: 'read' }] };
}

/** Before the write it is read again; afterwards whoever changed the dead letter has settled it, or has it in hand. */
function conflict(state: Replay): ReplayStep {
  return state.phase === 'targeting' ? again({ ...state, next: undefined }) : done(state, 'elsewhere');
}

function settle(state: Replay, outcomes: readonly SetOutcome[]): ReplayStep {
  const { deadLetter } = state;
  if (state.phase !== 'writing' || deadLetter?.state !== 'targeted') return done(state, 'elsewhere');
  const open = outcomes.filter(({ outcome }) => outcome !== 'stored').map(({ indexSet }) => indexSet);
  const { replays, epoch } = deadLetter;
  const next: DeadLetterState = { state: 'replayed', replays, epoch };
  if (open.length === 0) return write(state, next, 'settling');
  // Never opened again, even when no set has it: a replay beside this one may have split it already.
  if (outcomes.length > 1)
    return { state: { ...state, phase: 'splitting', next }, commands: [{ type: 'split', indexSets: open }] };
  const refused = outcomes.some(({ outcome }) => outcome === 'refused');
  return write(state, { state: 'open', replays: replays + (refused ? 1 : 0) }, 'settling');
}

function done(state: Replay, result: ReplayResult): ReplayStep {
  return { state: { ...state, phase: 'done' }, commands: [{ type: 'done', result }] };
}
