import { at } from '../../core/at.js';
import { Type } from 'typebox';
import { fieldReader, textOf } from '../fields.js';
import type { FieldValue, LogDocument } from '../../schemas/messages.js';
import { checkWritable, defineAction } from './define.js';

const reference = /\$\{([A-Za-z0-9.@_-]+)\}/g;

export const set = defineAction({
  name: 'set',
  description:
    "Writes a value. `${field}` in a text stands for that field's text; where such a field is missing, nothing is written.",
  schema: Type.Object(
    {
      field: Type.String({ description: 'Field to write.', minLength: 1 }),
      value: Type.Union([Type.String(), Type.Number(), Type.Boolean()], { description: 'What to write.' }),
      overwrite: Type.Optional(Type.Boolean({ description: 'false: only where the field is missing.', default: true })),
    },
    { additionalProperties: false, description: 'Write a value.' },
  ),
  example: {
    then: [{ set: { field: 'application_id', value: '${namespace}_${pod}' } }],
    before: { namespace: 'shop', pod: 'pay-1' },
    after: { namespace: 'shop', pod: 'pay-1', application_id: 'shop_pay-1' },
  },
  build: ({ field, value, overwrite }, place) => {
    checkWritable(field, place.at('field'));
    const render = typeof value === 'string' && value.search(reference) >= 0 ? template(value) : () => value;
    const keeps = overwrite === false;
    return {
      text: `set ${field} to ${JSON.stringify(value)}${keeps ? ' where missing' : ''}`,
      run: (target) => {
        if (keeps && target.document[field] !== undefined) return;
        const rendered = render(target.document);
        if (rendered !== undefined) target.set(field, rendered);
      },
    };
  },
});

function template(text: string): (document: LogDocument) => FieldValue | undefined {
  const parts = text.split(reference);
  const readers = parts.map((part, place) => (place % 2 === 1 ? fieldReader(part) : undefined));
  return (document) => {
    let rendered = '';
    for (let place = 0; place < parts.length; place += 1) {
      const read = readers[place];
      if (read === undefined) {
        rendered += at(parts, place);
        continue;
      }
      const value = read(document);
      if (value === undefined) return undefined;
      rendered += textOf(value);
    }
    return rendered;
  };
}
