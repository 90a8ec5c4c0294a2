import type { FieldValue, LogDocument } from '../schemas/messages.js';
import type { RuleContext } from './contract.js';

/** The message that the rules run over; all changes go through it, so that later rules see them. */
export interface RuleTarget {
  readonly document: LogDocument;
  readonly context: RuleContext;
  set(field: string, value: FieldValue): void;
  remove(field: string): void;
  /** By the stream's place in the rule set. */
  route(stream: number): void;
  drop(): void;
  /** Notes in `adjustments` what was changed to fit. */
  adjust(note: string): void;
}
