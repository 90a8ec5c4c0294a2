import { Type } from 'typebox';
import { defineCondition } from './define.js';
import { comparing } from './comparing/number.js';

const description =
  'The field is a number, or text that reads as one, and greater than this. Missing or not a number: does not hold.';

export const greater = defineCondition({
  name: 'greater',
  description,
  takesField: true,
  schema: Type.Number({ description }),
  example: {
    when: { field: 'request_time', greater: 1.5 },
    matches: { request_time: '2.25' },
    misses: { request_time: 1.5 },
  },
  build: (limit, place) => comparing(place.field, 'greater', limit),
});
