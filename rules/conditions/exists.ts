import { Type } from 'typebox';
import { fieldReader, isPresent } from '../fields.js';
import { defineCondition, type Condition } from './define.js';

const description = 'true: the message has the field, and it is not blank. false: it has not.';

export const exists = defineCondition({
  name: 'exists',
  description,
  takesField: true,
  schema: Type.Boolean({ description }),
  example: { when: { field: 'kubernetes', exists: true }, matches: { kubernetes: '{}' }, misses: { kubernetes: '  ' } },
  build: (wanted, place) => presence(place.field, wanted),
});

export function presence(field: string, wanted: boolean): Condition {
  const read = fieldReader(field);
  return {
    text: `${field} ${wanted ? 'exists' : 'is missing'}`,
    field,
    children: [],
    requirements: wanted ? [[{ kind: 'exists', field }]] : [],
    test: (document) => isPresent(read(document)) === wanted,
  };
}
