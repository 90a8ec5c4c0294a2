import { Type } from 'typebox';
import { checkWritable, defineAction } from './define.js';

export const remove = defineAction({
  name: 'remove',
  description: 'Removes fields.',
  schema: Type.Object(
    {
      fields: Type.Array(Type.String({ minLength: 1 }), { description: 'Fields to remove.', minItems: 1 }),
    },
    { additionalProperties: false, description: 'Remove fields.' },
  ),
  example: {
    then: [{ remove: { fields: ['stream', 'logtag'] } }],
    before: { message: 'm', logtag: 'F' },
    after: { message: 'm' },
  },
  build: ({ fields }, place) => {
    for (const [index, field] of fields.entries()) checkWritable(field, place.at('fields', index));
    return {
      text: `remove ${fields.join(', ')}`,
      run: (target) => {
        for (const field of fields) if (target.document[field] !== undefined) target.remove(field);
      },
    };
  },
});
