/** What the actions that find several fields in one text have in common. */
import { Type } from 'typebox';
import type { FieldValue } from '../../../schemas/messages.js';
import { plainReader, storableName, type Value } from '../../fields.js';
import { checkWritable } from '../define.js';
import type { RuleTarget } from '../../target.js';
import type { Place } from '../../problems.js';

/** A message that yields more fields than this is not meant to be taken apart this way; the rest stays in the text. */
export const maxFields = 200;

export const sourceOptions = {
  field: Type.String({ description: 'Field to read.', minLength: 1 }),
  remove: Type.Optional(
    Type.Boolean({ description: 'Remove the field when it could be taken apart as a whole.', default: false }),
  ),
};

interface SourceOptions {
  readonly field: string;
  readonly remove?: boolean | undefined;
}

/** Reads the text of the source field; checks that it may be removed when that is wanted. */
export function sourceReader(
  { field, remove }: SourceOptions,
  place: Place,
): (target: RuleTarget) => string | undefined {
  if (remove === true) checkWritable(field, place.at('field'));
  const read = plainReader(field);
  return (target) => {
    const value: Value = read(target.document);
    return typeof value === 'string' ? value : undefined;
  };
}

/** Writes what was found under its name; answers whether all of it is in the document now. */
export function writeFound(target: RuleTarget, found: ReadonlyMap<string, FieldValue>, overwrite: boolean): boolean {
  let whole = true;
  for (const [key, value] of found) {
    const name = storableName(key);
    if (name === undefined) {
      whole = false;
      continue;
    }
    const present = target.document[name];
    if (present === undefined || (overwrite && present !== value)) target.set(name, value);
    else if (present !== value) whole = false;
  }
  return whole;
}
