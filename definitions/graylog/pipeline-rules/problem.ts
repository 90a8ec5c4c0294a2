/** What is wrong in a text that somebody wrote in the rule language of peers, and where. */
import type { SluiceError } from '../../../core/errors.js';
import { objectErrors } from '../../errors.js';

export interface Position {
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

export interface TextProblem extends Position {
  readonly message: string;
}

export function textInvalid(problems: readonly TextProblem[]): SluiceError {
  const first = problems[0];
  const place = first === undefined ? undefined : `${first.line}:${first.column}`;
  return objectErrors.create('OBJECT_TEXT_INVALID', {
    place,
    got: first?.message.replace(/\.$/, ''),
    cause: { problems },
  });
}

export function wrongAt({ line, column }: Position, message: string): SluiceError {
  return textInvalid([{ line, column, message }]);
}

/** Of OBJECT_TEXT_INVALID. */
export function textProblemsOf(error: SluiceError): readonly TextProblem[] {
  return (error.cause as { readonly problems?: readonly TextProblem[] } | undefined)?.problems ?? [];
}
