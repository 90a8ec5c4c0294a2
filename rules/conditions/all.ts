import { Type } from 'typebox';
import { defineCondition, type Condition } from './define.js';

export const all = defineCondition({
  name: 'all',
  description: 'Every condition of the list holds.',
  takesField: false,
  schema: Type.Array(Type.Unsafe<unknown>({ $ref: '#/$defs/condition' }), {
    description: 'Every condition of the list holds.',
    minItems: 1,
  }),
  example: {
    when: {
      all: [
        { field: 'namespace', equals: 'shop' },
        { field: 'level', less: 4 },
      ],
    },
    matches: { namespace: 'shop', level: 3 },
    misses: { namespace: 'shop', level: 6 },
  },
  build: (values, place) => allOf(values.map((value, index) => place.nested(value, index))),
});

export function allOf(children: readonly Condition[]): Condition {
  return {
    text: 'all of',
    field: undefined,
    children,
    requirements: children.flatMap((child) => child.requirements),
    test: (document, context) => {
      for (const child of children) if (!child.test(document, context)) return false;
      return true;
    },
  };
}
