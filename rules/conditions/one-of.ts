import { Type } from 'typebox';
import { fieldReader, textOf } from '../fields.js';
import { defineCondition } from './define.js';
import { scalar } from './equals.js';

const description = 'The text of the field, without white space at its ends, is one of the list.';

export const oneOf = defineCondition({
  name: 'one_of',
  description,
  takesField: true,
  takesIgnoreCase: true,
  schema: Type.Array(scalar('One of these.'), { description, minItems: 1 }),
  example: {
    when: { field: 'container', one_of: ['sluice', 'sluice-proxy'] },
    matches: { container_name: 'sluice' },
    misses: { container_name: 'shop' },
  },
  build: (values, { field, ignoreCase }) => {
    const read = fieldReader(field);
    const texts = values.map(String);
    const wanted = new Set(ignoreCase ? texts.map((text) => text.toLowerCase()) : texts);
    return {
      text: `${field} is one of ${JSON.stringify(texts)}${ignoreCase ? ' in any case' : ''}`,
      field,
      children: [],
      requirements: [[ignoreCase ? { kind: 'exists', field } : { kind: 'equals', field, values: texts }]],
      test: (document) => {
        const value = read(document);
        if (value === undefined) return false;
        const text = textOf(value).trim();
        return wanted.has(ignoreCase ? text.toLowerCase() : text);
      },
    };
  },
});
