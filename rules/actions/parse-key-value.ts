import { Type } from 'typebox';
import type { FieldValue } from '../../schemas/messages.js';
import { defineAction } from './define.js';
import { maxFields, sourceOptions, sourceReader, writeFound } from './parsing/fields-of-text.js';

export const parseKeyValue = defineAction({
  name: 'parse_key_value',
  description:
    'Finds pairs in a text. form plain: `key=value key="two words"`. form brackets: `[key=value]`, the key without spaces, brackets and equals signs, the value without brackets; text outside the brackets makes no fields. The first of two equal keys wins.',
  schema: Type.Object(
    {
      ...sourceOptions,
      form: Type.Optional(
        Type.Enum(['plain', 'brackets'], { description: 'How pairs are written.', default: 'plain' }),
      ),
      pair_separator: Type.Optional(
        Type.String({ description: 'form plain: between pairs.', minLength: 1, default: ' ' }),
      ),
      key_value_separator: Type.Optional(
        Type.String({ description: 'form plain: between key and value.', minLength: 1, default: '=' }),
      ),
      keys: Type.Optional(
        Type.Array(Type.String({ minLength: 1 }), { description: 'Only these keys; default: all.', minItems: 1 }),
      ),
      prefix: Type.Optional(Type.String({ description: 'Goes before each name.', default: '' })),
      overwrite: Type.Optional(Type.Boolean({ description: 'true: replace fields that are there.', default: false })),
    },
    { additionalProperties: false, description: 'Pairs in a text become fields.' },
  ),
  example: {
    then: [{ parse_key_value: { field: 'message', form: 'brackets', keys: ['logType', 'tenant_id'] } }],
    before: { message: '[INFO] [logType=int] [tenant_id=7] [class=A] sent x=1' },
    after: { message: '[INFO] [logType=int] [tenant_id=7] [class=A] sent x=1', logType: 'int', tenant_id: '7' },
  },
  build: (options, place) => {
    const read = sourceReader(options, place);
    const {
      form = 'plain',
      pair_separator: between = ' ',
      key_value_separator: within = '=',
      prefix = '',
      overwrite = false,
      remove = false,
    } = options;
    const keys = options.keys === undefined ? undefined : new Set(options.keys);
    return {
      text: `parse key-value pairs of ${options.field}`,
      run: (target) => {
        const text = read(target);
        if (text === undefined) return;
        const found = new Map<string, FieldValue>();
        const take = (key: string, value: string): void => {
          if (found.size < maxFields && (keys === undefined || keys.has(key)) && !found.has(prefix + key))
            found.set(prefix + key, value);
        };
        if (form === 'brackets') bracketPairs(text, take);
        else plainPairs(text, between, within, take);
        if (found.size > 0 && writeFound(target, found, overwrite) && remove) target.remove(options.field);
      },
    };
  },
});

type Take = (key: string, value: string) => void;

/** `[key=value]` anywhere in the text; one pass. */
function bracketPairs(text: string, take: Take): void {
  for (let open = text.indexOf('['); open >= 0; ) {
    const close = text.indexOf(']', open + 1);
    if (close < 0) return;
    const start = text.lastIndexOf('[', close - 1) + 1;
    const equals = text.indexOf('=', start);
    if (equals > start && equals < close) {
      const key = text.slice(start, equals);
      if (!/\s/.test(key)) take(key, text.slice(equals + 1, close).trim());
    }
    open = text.indexOf('[', close + 1);
  }
}

/**
 * `key=value`, the value in double quotes when it holds the separator; parts without a key are passed over. One pass.
 */
function plainPairs(text: string, between: string, within: string, take: Take): void {
  let position = 0;
  let middle = text.indexOf(within);
  let quotesEnd = true;
  while (position < text.length) {
    if (middle < position) middle = text.indexOf(within, position);
    if (middle < 0) return;
    let end = endOr(text.indexOf(between, position), text.length);
    if (middle < end) {
      const key = text.slice(position, middle).trim();
      const start = middle + within.length;
      const quote = quotesEnd && text[start] === '"' ? closingQuote(text, start + 1) : -1;
      if (text[start] === '"' && quote < 0) quotesEnd = false;
      end = endOr(text.indexOf(between, quote < 0 ? start : quote + 1), text.length);
      const value = quote < 0 ? text.slice(start, end).trim() : text.slice(start + 1, quote).replaceAll('\\"', '"');
      if (key !== '') take(key, value);
    }
    position = end + between.length;
  }
}

const endOr = (found: number, otherwise: number): number => (found < 0 ? otherwise : found);

function closingQuote(text: string, from: number): number {
  for (let place = text.indexOf('"', from); place >= 0; place = text.indexOf('"', place + 1))
    if (text[place - 1] !== '\\') return place;
  return -1;
}
