import { Type } from 'typebox';
import { compilePattern, type Pattern } from '../pattern.js';
import { shown, type Place } from '../problems.js';
import { checkWritable, defineAction, nothing } from './define.js';
import { sourceReader } from './parsing/fields-of-text.js';

/**
 * A result that would be longer than this and than its source is not written: short matches with a long replacement
 * multiply.
 */
const longestResult = 2 ** 20;

export const replace = defineAction({
  name: 'replace',
  description:
    'Replaces parts of a text: an exact text (`text`), or what a pattern finds (`pattern`, RE2 syntax; `$1` in `by` stands for its first group). Where the field is missing, nothing is written.',
  schema: Type.Object(
    {
      field: Type.String({ description: 'Field to read.', minLength: 1 }),
      text: Type.Optional(Type.String({ description: 'Exact text to replace.', minLength: 1 })),
      pattern: Type.Optional(Type.String({ description: 'Instead of `text`: RE2 syntax.', minLength: 1 })),
      by: Type.String({ description: 'What stands in its place; may be empty.', maxLength: 1_000 }),
      all: Type.Optional(Type.Boolean({ description: 'false: only the first one.', default: true })),
      to: Type.Optional(Type.String({ description: 'Field to write; default: the one that is read.', minLength: 1 })),
    },
    { additionalProperties: false, description: 'Replace parts of a text.' },
  ),
  example: {
    then: [{ replace: { field: 'path', pattern: '/[0-9]+(/|$)', by: '/:id$1' } }],
    before: { path: '/cart/17/items' },
    after: { path: '/cart/:id/items' },
  },
  build: (options, place) => {
    const { field, text, pattern, by, all = true, to = field } = options;
    checkWritable(to, place.at('to'));
    if ((text === undefined) === (pattern === undefined)) {
      place.report('A replacement has `text` or `pattern`.', { got: shown(options), allowed: 'one of the two' });
      return nothing;
    }
    const read = sourceReader({ field }, place);
    const run = pattern === undefined ? replacingText(text ?? '', by, all) : replacingPattern(pattern, by, all, place);
    if (run === undefined) return nothing;
    return {
      text: `replace ${pattern === undefined ? JSON.stringify(text) : `/${pattern}/`} in ${field} by ${JSON.stringify(by)}${to === field ? '' : ` into ${to}`}`,
      run: (target) => {
        const before = read(target);
        if (before === undefined) return;
        const after = run(before);
        if (after !== undefined && target.document[to] !== after) target.set(to, after);
      },
    };
  },
});

type Replacing = (text: string) => string | undefined;

function replacingText(wanted: string, by: string, all: boolean): Replacing {
  return (text) => {
    if (!text.includes(wanted)) return text;
    const parts = all
      ? text.split(wanted)
      : [text.slice(0, text.indexOf(wanted)), text.slice(text.indexOf(wanted) + wanted.length)];
    const length = text.length + (parts.length - 1) * (by.length - wanted.length);
    return fits(length, text) ? parts.join(by) : undefined;
  };
}

function replacingPattern(source: string, by: string, all: boolean, place: Place): Replacing | undefined {
  const pattern = compilePattern(source);
  if ('error' in pattern) {
    place.at('pattern').report(`The pattern cannot be compiled: ${pattern.error}.`, {
      got: shown(source),
      allowed: 'RE2 syntax, without look-around and back-references',
    });
    return undefined;
  }
  const parts = by.split(/\$(\d)/);
  const groups = pattern.re2.groupCount();
  const unknown = parts.find((part, index) => index % 2 === 1 && Number(part) > groups);
  if (unknown !== undefined)
    place.at('by').report('The pattern has no such group.', { got: `$${unknown}`, allowed: `$0 to $${groups}` });
  return (text) => (pattern.mayMatch(text) ? replaceMatches(pattern, parts, all, text) : text);
}

/** Odd parts are numbers of groups. */
function replaceMatches({ re2 }: Pattern, parts: readonly string[], all: boolean, text: string): string | undefined {
  const matcher = re2.matcher(text);
  let result = '';
  let last = 0;
  while (matcher.find()) {
    result += text.slice(last, matcher.start());
    for (const [index, part] of parts.entries()) result += index % 2 === 1 ? (matcher.group(Number(part)) ?? '') : part;
    last = matcher.end();
    if (!fits(result.length, text)) return undefined;
    if (!all) break;
  }
  return result + text.slice(last);
}

const fits = (length: number, source: string): boolean => length <= Math.max(longestResult, source.length);
