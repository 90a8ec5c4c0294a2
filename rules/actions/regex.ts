import { Type } from 'typebox';
import { compilePattern, type Pattern } from '../pattern.js';
import { shown } from '../problems.js';
import { checkWritable, defineAction, nothing } from './define.js';
import { sourceOptions, sourceReader } from './parsing/fields-of-text.js';
import type { FieldValue } from '../../schemas/messages.js';
import { writeFound } from './parsing/fields-of-text.js';

export const regex = defineAction({
  name: 'regex',
  description:
    'Finds a pattern (RE2 syntax) in a text; its named groups `(?P<name>...)` become fields. A group that took no part or is empty makes none.',
  schema: Type.Object(
    {
      ...sourceOptions,
      pattern: Type.String({ description: 'RE2 syntax with at least one named group.', minLength: 1 }),
      ignore_case: Type.Optional(Type.Boolean({ description: 'Upper and lower case are the same.', default: false })),
      overwrite: Type.Optional(Type.Boolean({ description: 'false: only where the field is missing.', default: true })),
    },
    { additionalProperties: false, description: 'Named groups become fields.' },
  ),
  example: {
    then: [{ regex: { field: 'message', pattern: 'user=(?P<user>\\w+) took (?P<took_ms>\\d+) ms' } }],
    before: { message: 'user=ann took 17 ms' },
    after: { message: 'user=ann took 17 ms', user: 'ann', took_ms: '17' },
  },
  build: (options, place) => {
    const read = sourceReader(options, place);
    const { overwrite = true, remove = false } = options;
    const pattern = compilePattern(options.pattern, options.ignore_case);
    if ('error' in pattern) {
      place.at('pattern').report(`The pattern cannot be compiled: ${pattern.error}.`, {
        got: shown(options.pattern),
        allowed: 'RE2 syntax, without look-around and back-references',
      });
      return nothing;
    }
    const names = Object.keys(pattern.re2.namedGroups());
    if (names.length === 0)
      place.at('pattern').report('The pattern has no named group, so it would find nothing.', {
        got: shown(options.pattern),
        allowed: '(?P<name>...)',
      });
    for (const name of names) checkWritable(name, place.at('pattern'));
    return {
      text: `find /${options.pattern}/ in ${options.field}`,
      run: (target) => {
        const text = read(target);
        const found = text === undefined ? undefined : namedGroups(pattern, names, text);
        if (found !== undefined && writeFound(target, found, overwrite) && remove) target.remove(options.field);
      },
    };
  },
});

function namedGroups(pattern: Pattern, names: readonly string[], text: string): Map<string, FieldValue> | undefined {
  if (!pattern.mayMatch(text)) return undefined;
  const matcher = pattern.re2.matcher(text);
  if (!matcher.find()) return undefined;
  const found = new Map<string, FieldValue>();
  for (const name of names) {
    const group = matcher.group(name);
    if (group !== null && group !== '') found.set(name, group);
  }
  return found;
}
