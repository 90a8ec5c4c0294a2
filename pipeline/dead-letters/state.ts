/** What a dead letter's document says of its replays, and back. */
import type { DeadLetterState, Tombstones } from './replay-machine.js';

export type DeadLetterDocument = Readonly<Record<string, unknown>>;

/** A dead letter as it stands in its index. */
export interface DeadLetter {
  readonly id: string;
  /** Index that holds the dead letter. */
  readonly place: string;
  readonly revision: string;
  readonly document: DeadLetterDocument;
}

/** A document without these fields was written before there were replays: it is open. */
export function stateOf(document: DeadLetterDocument): DeadLetterState {
  const replays = numberOf(document['replays']) ?? 0;
  const epoch = numberOf(document['target_epoch']);
  switch (document['state']) {
    case 'targeted':
      return epoch === undefined
        ? { state: 'open', replays }
        : { state: 'targeted', replays, epoch, tombstones: tombstonesOf(document['target_stubs']) };
    case 'replayed':
      return { state: 'replayed', replays, epoch: epoch ?? -1 };
    case 'dropped':
      return { state: 'dropped', replays };
    default:
      return { state: 'open', replays };
  }
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

function tombstonesOf(value: unknown): Tombstones {
  return typeof value === 'string' ? (JSON.parse(value) as Tombstones) : {};
}

/** The document with another state; `changes` are fields that come with it. */
export function withState(
  document: DeadLetterDocument,
  deadLetter: DeadLetterState,
  changes: DeadLetterDocument,
): DeadLetterDocument {
  const next: Record<string, unknown> = {
    ...document,
    state: deadLetter.state,
    replays: deadLetter.replays,
    ...changes,
  };
  delete next['target_epoch'];
  delete next['target_stubs'];
  if ('epoch' in deadLetter) next['target_epoch'] = deadLetter.epoch;
  if (deadLetter.state === 'targeted' && Object.keys(deadLetter.tombstones).length > 0)
    next['target_stubs'] = JSON.stringify(deadLetter.tombstones);
  return next;
}

/** Id of the message that a dead letter is about: the dead letter's without the index set. */
export function messageIdOf(deadLetterId: string): string {
  const at = deadLetterId.lastIndexOf('@');
  return at < 0 ? deadLetterId : deadLetterId.slice(0, at);
}

export function textOf(document: DeadLetterDocument, field: string): string {
  const value = document[field];
  return typeof value === 'string' ? value : '';
}
