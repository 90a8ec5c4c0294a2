/** Ranges: `[a TO b]`, `{a TO b}`, `[a TO b}`; each end a word, a quoted text or `*`. */
import { fail } from './problem.js';
import type { EndToken, RangeToken } from './tokens.js';

const blank = /\s*/y;
const quoted = /"((?:[^"\\]|\\[\s\S])*)"/y;
const plain = /(?:[^\s\]}"\\]|\\[\s\S])+/y;
const between = /to(?=\s)/iy;

const allowed =
  'field:[from TO to], with { or } for an end that is not included and * for an open one; a bracket as text is written in quotes or as \\[';

export function scanRange(text: string, start: number): RangeToken {
  let at = start + 1;
  const skip = () => {
    blank.lastIndex = at;
    at += blank.exec(text)?.[0].length ?? 0;
  };
  const end = (): EndToken => {
    skip();
    const from = at;
    quoted.lastIndex = at;
    const inQuotes = quoted.exec(text);
    plain.lastIndex = at;
    const found = inQuotes ?? plain.exec(text);
    if (found === null) fail('SEARCH_QUERY_SYNTAX', { start, end: text.length }, { got: text.slice(start), allowed });
    at += found[0].length;
    return {
      text: (inQuotes?.[1] ?? found[0]).replace(/\\([\s\S])/g, '$1'),
      quoted: inQuotes !== null,
      span: { start: from, end: at },
    };
  };
  const from = end();
  skip();
  between.lastIndex = at;
  const word = between.exec(text);
  if (word === null)
    fail('SEARCH_QUERY_SYNTAX', { start, end: Math.max(start + 1, at) }, { got: text.slice(start), allowed });
  at += word[0].length;
  const to = end();
  skip();
  const closing = text.charAt(at);
  if (closing !== ']' && closing !== '}')
    fail('SEARCH_QUERY_UNCLOSED', { start, end: at }, { got: text.slice(start), allowed });
  return {
    kind: 'range',
    start,
    end: at + 1,
    from,
    to,
    includesFrom: text.charAt(start) === '[',
    includesTo: closing === ']',
  };
}
