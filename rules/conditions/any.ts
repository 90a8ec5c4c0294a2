import { Type } from 'typebox';
import { anyOf } from '../requirement.js';
import { defineCondition, type Condition } from './define.js';

export const any = defineCondition({
  name: 'any',
  description: 'At least one condition of the list holds.',
  takesField: false,
  schema: Type.Array(Type.Unsafe<unknown>({ $ref: '#/$defs/condition' }), {
    description: 'At least one condition of the list holds.',
    minItems: 1,
  }),
  example: {
    when: {
      any: [
        { field: 'logType', equals: 'int' },
        { field: 'log_type', equals: 'int' },
      ],
    },
    matches: { log_type: 'int' },
    misses: { log_type: 'access' },
  },
  build: (values, place) => oneHolds(values.map((value, index) => place.nested(value, index))),
});

export function oneHolds(children: readonly Condition[]): Condition {
  return {
    text: 'any of',
    field: undefined,
    children,
    requirements: anyOf(children.map((child) => child.requirements)),
    test: (document, context) => {
      for (const child of children) if (child.test(document, context)) return true;
      return false;
    },
  };
}
