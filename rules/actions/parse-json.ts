import { Type } from 'typebox';
import type { FieldValue } from '../../schemas/messages.js';
import { defineAction } from './define.js';
import { maxFields, sourceOptions, sourceReader, writeFound } from './parsing/fields-of-text.js';

/** Deeper objects are kept as JSON text. */
const maxDepth = 10;

export const parseJson = defineAction({
  name: 'parse_json',
  description:
    'Reads a JSON object out of a field and makes its members fields. Inner objects are flattened with the separator, lists are kept as JSON text, null is left out, integers beyond 2^53 stay exact as text. Characters that a field name cannot have become `_`. Text that is no JSON object is left alone.',
  schema: Type.Object(
    {
      ...sourceOptions,
      prefix: Type.Optional(Type.String({ description: 'Goes before each name.', default: '' })),
      separator: Type.Optional(Type.String({ description: 'Joins the names of inner objects.', default: '_' })),
      overwrite: Type.Optional(Type.Boolean({ description: 'true: replace fields that are there.', default: false })),
    },
    { additionalProperties: false, description: 'Members of a JSON object become fields.' },
  ),
  example: {
    then: [{ parse_json: { field: 'labels', prefix: 'labels-', remove: true } }],
    before: { labels: '{"app":"pay","app.kubernetes.io/name":"pay"}' },
    after: { 'labels-app': 'pay', 'labels-app.kubernetes.io_name': 'pay' },
  },
  build: (options, place) => {
    const read = sourceReader(options, place);
    const { prefix = '', separator = '_', overwrite = false, remove = false } = options;
    return {
      text: `parse JSON of ${options.field}`,
      run: (target) => {
        const text = read(target);
        const root = text === undefined ? undefined : parseObject(text);
        if (root === undefined) return;
        const found = new Map<string, FieldValue>();
        const whole = flatten(root, prefix, { separator, found }, 0);
        if (writeFound(target, found, overwrite) && whole && remove && target.document[options.field] === text)
          target.remove(options.field);
      },
    };
  },
});

const longInteger = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g;
const perhapsLong = /\d{16}/;

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const exact = perhapsLong.test(text)
      ? text.replace(longInteger, (token) =>
          token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `"${token}"`,
        )
      : text;
    return JSON.parse(exact) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

interface Flattening {
  readonly separator: string;
  readonly found: Map<string, FieldValue>;
}

/** Answers false when there were more fields than are taken. */
function flatten(
  object: Readonly<Record<string, unknown>>,
  prefix: string,
  flattening: Flattening,
  depth: number,
): boolean {
  const { separator, found } = flattening;
  let whole = true;
  for (const [key, value] of Object.entries(object)) {
    if (value === null) continue;
    if (found.size >= maxFields) return false;
    const name = prefix + key;
    if (typeof value === 'object' && !Array.isArray(value) && depth < maxDepth) {
      whole = flatten(value as Readonly<Record<string, unknown>>, name + separator, flattening, depth + 1) && whole;
    } else found.set(name, typeof value === 'object' ? JSON.stringify(value) : (value as FieldValue));
  }
  return whole;
}
