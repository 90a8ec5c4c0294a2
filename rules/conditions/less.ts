import { Type } from 'typebox';
import { defineCondition } from './define.js';
import { comparing } from './comparing/number.js';

const description =
  'The field is a number, or text that reads as one, and less than this. Missing or not a number: does not hold.';

export const less = defineCondition({
  name: 'less',
  description,
  takesField: true,
  schema: Type.Number({ description }),
  example: { when: { field: 'level', less: 4 }, matches: { level: 3 }, misses: { level: 'high' } },
  build: (limit, place) => comparing(place.field, 'less', limit),
});
