import { Type } from 'typebox';
import { defineCondition, type Condition } from './define.js';

const description =
  'The condition does not hold. Plain negation: where the field is missing, the inner condition does not hold, so this one does.';

export const not = defineCondition({
  name: 'not',
  description,
  takesField: false,
  schema: Type.Unsafe<unknown>({ $ref: '#/$defs/condition', description }),
  example: {
    when: { not: { field: 'namespace', starts_with: 'kube-' } },
    matches: { namespace: 'shop' },
    misses: { namespace: 'kube-system' },
  },
  build: (value, place) => negation(place.nested(value)),
});

export function negation(child: Condition): Condition {
  return {
    text: 'not',
    field: undefined,
    children: [child],
    requirements: [],
    test: (document, context) => !child.test(document, context),
  };
}
