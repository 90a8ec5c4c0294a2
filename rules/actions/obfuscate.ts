import { Type } from 'typebox';
import { obfuscateField } from '../obfuscation.js';
import { checkWritable, defineAction } from './define.js';

export const obfuscate = defineAction({
  name: 'obfuscate',
  description:
    'Replaces sensitive text in fields, at this place of the rules, whether or not the section `obfuscation` is enabled. Without `patterns` all patterns of that section apply. When it fails, the field is removed and noted in `adjustments`.',
  schema: Type.Object(
    {
      fields: Type.Array(Type.String({ minLength: 1 }), { description: 'Fields to search.', minItems: 1 }),
      patterns: Type.Optional(
        Type.Array(Type.String({ minLength: 1 }), {
          description: 'Ids of patterns of the section `obfuscation`.',
          minItems: 1,
        }),
      ),
      replacement: Type.Optional(
        Type.String({ description: 'What stands in place of sensitive text; default: that of the section.' }),
      ),
    },
    { additionalProperties: false, description: 'Replace sensitive text.' },
  ),
  example: {
    then: [{ obfuscate: { fields: ['message'], patterns: ['us-ssn'] } }],
    before: { message: 'ssn 123-45-6789 given' },
    after: { message: 'ssn ******** given' },
  },
  build: ({ fields, patterns, replacement }, place) => {
    for (const [index, field] of fields.entries()) checkWritable(field, place.at('fields', index));
    const obfuscator = place.obfuscator(patterns, replacement, place.at('patterns'));
    return {
      text: `obfuscate ${fields.join(', ')}`,
      run: (target) => {
        for (const field of fields) obfuscateField(target, field, obfuscator);
      },
    };
  },
});
