import { Type } from 'typebox';
import { defineCondition, type Condition } from './define.js';

export const everyMessage: Condition = {
  text: 'always',
  field: undefined,
  children: [],
  requirements: [],
  test: () => true,
};

export const always = defineCondition({
  name: 'always',
  description: 'Every message.',
  takesField: false,
  schema: Type.Literal(true, { description: 'Every message.' }),
  example: { when: { always: true }, matches: { message: 'any' }, misses: undefined },
  build: () => everyMessage,
});
