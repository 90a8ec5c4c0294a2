import { Type } from 'typebox';
import { fieldReader, textOf } from '../fields.js';
import type { Pattern } from '../pattern.js';
import { compilePattern } from '../pattern.js';
import { shown } from '../problems.js';
import { defineCondition, never, type Condition } from './define.js';

const description =
  'The pattern (RE2 syntax, linear time) is found somewhere in the text of the field; `.` matches line breaks.';

export const regex = defineCondition({
  name: 'regex',
  description,
  takesField: true,
  takesIgnoreCase: true,
  schema: Type.String({ description, minLength: 1 }),
  example: {
    when: { field: 'tag', regex: 'var.log.(messages|syslog)' },
    matches: { tag: 'parsed.var.log.syslog' },
    misses: { tag: '/var/log/audit/audit.log' },
  },
  build: (source, place) => {
    const pattern = compilePattern(source, place.ignoreCase);
    if ('error' in pattern) {
      place.report(`The pattern cannot be compiled: ${pattern.error}.`, {
        got: shown(source),
        allowed: 'RE2 syntax, without look-around and back-references',
      });
      return never;
    }
    return finding(place.field, pattern);
  },
});

export function finding(field: string, pattern: Pattern): Condition {
  const read = fieldReader(field);
  return {
    text: `${field} matches /${pattern.source}/`,
    field,
    children: [],
    requirements: [
      [{ kind: 'exists', field }],
      ...pattern.groups.map((literals) => [{ kind: 'literal', field, literals } as const]),
    ],
    test: (document) => {
      const value = read(document);
      return value !== undefined && pattern.test(textOf(value));
    },
  };
}
