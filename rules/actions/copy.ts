import { Type } from 'typebox';
import { plainReader } from '../fields.js';
import { asFieldValue, checkWritable, defineAction } from './define.js';

export const copy = defineAction({
  name: 'copy',
  description:
    'Copies a field to another name. Of several sources the first that the message has is taken. Names are exact: no aliases.',
  schema: Type.Object(
    {
      from: Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })], {
        description: 'Field to read, or a list of them.',
      }),
      to: Type.String({ description: 'Field to write.', minLength: 1 }),
      overwrite: Type.Optional(Type.Boolean({ description: 'false: only where the field is missing.', default: true })),
    },
    { additionalProperties: false, description: 'Copy a field.' },
  ),
  example: {
    then: [{ copy: { from: ['kubernetes_host', 'nodename'], to: 'host', overwrite: false } }],
    before: { nodename: 'node-7' },
    after: { nodename: 'node-7', host: 'node-7' },
  },
  build: ({ from, to, overwrite }, place) => {
    checkWritable(to, place.at('to'));
    const sources = typeof from === 'string' ? [from] : from;
    const readers = sources.map(plainReader);
    const keeps = overwrite === false;
    return {
      text: `copy ${sources.join(' or ')} to ${to}${keeps ? ' where missing' : ''}`,
      run: (target) => {
        // Most sources are missing from most messages, so they come before the look at the field to write.
        for (const read of readers) {
          const value = read(target.document);
          if (value === undefined) continue;
          if (!keeps || target.document[to] === undefined) target.set(to, asFieldValue(value));
          return;
        }
      },
    };
  },
});
