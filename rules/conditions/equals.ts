import { Type } from 'typebox';
import { fieldReader, textOf } from '../fields.js';
import { defineCondition, type Condition } from './define.js';

export const scalar = (description: string) =>
  Type.Union([Type.String({ minLength: 1 }), Type.Number(), Type.Boolean()], { description });
const description =
  'The text of the field, without white space at its ends, is exactly this. Numbers and booleans are compared by their text.';

export const equals = defineCondition({
  name: 'equals',
  description,
  takesField: true,
  takesIgnoreCase: true,
  schema: scalar(description),
  example: {
    when: { field: 'kind', equals: 'KubernetesEvent' },
    matches: { kind: ' KubernetesEvent ' },
    misses: { kind: 'kubernetesevent' },
  },
  build: (value, place) => equalTo(place.field, String(value), place.ignoreCase),
});

export function equalTo(field: string, wanted: string, ignoreCase: boolean): Condition {
  const read = fieldReader(field);
  const text = `${field} equals ${JSON.stringify(wanted)}${ignoreCase ? ' in any case' : ''}`;
  if (ignoreCase) {
    const folded = wanted.toLowerCase();
    return {
      text,
      field,
      children: [],
      requirements: [[{ kind: 'exists', field }]],
      test: (document) => {
        const value = read(document);
        return value !== undefined && textOf(value).trim().toLowerCase() === folded;
      },
    };
  }
  return {
    text,
    field,
    children: [],
    requirements: [[{ kind: 'equals', field, values: [wanted] }]],
    test: (document) => {
      const value = read(document);
      return value !== undefined && (value === wanted || textOf(value).trim() === wanted);
    },
  };
}
