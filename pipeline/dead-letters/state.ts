/** What a dead letter's document says of its replays, and back. */
import type { LetterState, Stubs } from './replay.js';

export type LetterDocument = Readonly<Record<string, unknown>>;

/** A letter as it stands in its index. */
export interface Letter {
  readonly id: string;
  /** Index that holds the letter. */
  readonly place: string;
  readonly revision: string;
  readonly document: LetterDocument;
}

/** A document without these fields was written before there were replays: it is open. */
export function stateOf(document: LetterDocument): LetterState {
  const replays = numberOf(document['replays']) ?? 0;
  const epoch = numberOf(document['target_epoch']);
  switch (document['state']) {
    case 'targeted':
      return epoch === undefined
        ? { state: 'open', replays }
        : { state: 'targeted', replays, epoch, stubs: stubsOf(document['target_stubs']) };
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

function stubsOf(value: unknown): Stubs {
  return typeof value === 'string' ? (JSON.parse(value) as Stubs) : {};
}

/** The document with another state; `changes` are fields that come with it. */
export function withState(document: LetterDocument, letter: LetterState, changes: LetterDocument): LetterDocument {
  const next: Record<string, unknown> = { ...document, state: letter.state, replays: letter.replays, ...changes };
  delete next['target_epoch'];
  delete next['target_stubs'];
  if ('epoch' in letter) next['target_epoch'] = letter.epoch;
  if (letter.state === 'targeted' && Object.keys(letter.stubs).length > 0)
    next['target_stubs'] = JSON.stringify(letter.stubs);
  return next;
}

/** Id of the message that a letter is about: the letter's without the index set. */
export function messageIdOf(letterId: string): string {
  const at = letterId.lastIndexOf('@');
  return at < 0 ? letterId : letterId.slice(0, at);
}

export function textOf(document: LetterDocument, field: string): string {
  const value = document[field];
  return typeof value === 'string' ? value : '';
}
