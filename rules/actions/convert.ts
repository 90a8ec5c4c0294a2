import { Type } from 'typebox';
import type { FieldValue } from '../../schemas/messages.js';
import { numberOf, plainReader, textOf, type Value } from '../fields.js';
import { checkWritable, defineAction } from './define.js';

export type ValueKind = 'number' | 'string' | 'boolean';

export const convert = defineAction({
  name: 'convert',
  description:
    'Turns a field into a number, a text or a boolean. What cannot be turned without loss (`abc`, an integer beyond 2^53) stays as it is.',
  schema: Type.Object(
    {
      field: Type.String({ description: 'Field to convert.', minLength: 1 }),
      to: Type.Enum(['number', 'string', 'boolean'], { description: 'What it becomes.' }),
    },
    { additionalProperties: false, description: 'Change the kind of a value.' },
  ),
  example: { then: [{ convert: { field: 'size', to: 'number' } }], before: { size: ' 42 ' }, after: { size: 42 } },
  build: ({ field, to }, place) => {
    checkWritable(field, place.at('field'));
    const read = plainReader(field);
    return {
      text: `convert ${field} to ${to}`,
      run: (target) => {
        const before = read(target.document);
        const value = convertValue(before, to);
        if (value !== undefined && value !== before) target.set(field, value);
      },
    };
  },
});

/** undefined: cannot be converted without loss. */
export function convertValue(value: Value, to: ValueKind): FieldValue | undefined {
  if (value === undefined) return undefined;
  if (to === 'string') return textOf(value);
  if (to === 'boolean') {
    if (typeof value === 'boolean') return value;
    const text = textOf(value).trim().toLowerCase();
    return text === 'true' ? true : text === 'false' ? false : undefined;
  }
  const number = numberOf(value);
  if (!Number.isFinite(number)) return undefined;
  return Number.isInteger(number) && !Number.isSafeInteger(number) && typeof value === 'string' && !/[.eE]/.test(value)
    ? undefined
    : number;
}
