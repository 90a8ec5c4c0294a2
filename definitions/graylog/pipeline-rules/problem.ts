/** What is wrong in the text of a Graylog pipeline rule, and where. */
import type { SluiceError } from '../../../core/errors.js';
import type { Position, TextProblem } from '../contract.js';
import { objectErrors } from '../../errors.js';

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
