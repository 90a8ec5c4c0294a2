import { Type } from 'typebox';
import { defineAction } from './define.js';

export const sample = defineAction({
  name: 'sample',
  description:
    'Keeps this part of the messages and drops the others. The message id decides, so a message that is delivered again fares alike.',
  schema: Type.Object(
    {
      keep: Type.Number({ description: 'Part that is kept, from 0 (none) to 1 (all).', minimum: 0, maximum: 1 }),
    },
    { additionalProperties: false, description: 'Keep a part.' },
  ),
  example: { then: [{ sample: { keep: 0 } }], before: { message: 'noise' }, after: undefined },
  build: ({ keep }) => ({
    text: `keep ${keep * 100} % of them`,
    run: (target) => {
      if (fraction(target.context.messageId) >= keep) target.drop();
    },
  }),
});

/** The id as a number from 0 to below 1: FNV-1a, then mixed, because ids of one run differ only at their end. */
function fraction(id: string): number {
  let hash = 0x811c9dc5;
  for (let place = 0; place < id.length; place += 1) hash = Math.imul(hash ^ id.charCodeAt(place), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
