/** Wildcards and regular expressions of queries as RE2 expressions. */
import { RE2JS } from 're2js';
import { lowerCase } from '../../schemas/words.js';

/** The RE2 expression, to be anchored at both ends, of a pattern in which `*` is any run and `?` one character. */
export function wildcardExpression(pattern: string): string {
  return pattern
    .split(/([*?])/)
    .map((part) => (part === '*' ? '(?s:.*)' : part === '?' ? '(?s:.)' : RE2JS.quote(part)))
    .join('');
}

/**
 * Escapes (`\S`, `\p{Lu}`, `\x{1F600}`), names of groups and of classes keep their case; all other letters become small
 * ones.
 */
export function lowerCaseExpression(expression: string): string {
  return expression.replace(
    /\\[pPx]\{[^}]*\}|\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\(\?P?<[^>]*>|\[:\^?\w+:\]|[^\\([]+|[([]/g,
    (part) => {
      if (part.startsWith('\\Q')) return `\\Q${lowerCase(part.slice(2).replace(/\\E$/, ''))}\\E`;
      return part.length > 1 && /^(?:\\|\(\?|\[:)/.test(part) ? part : lowerCase(part);
    },
  );
}

/** Why RE2 does not take the expression; undefined when it does. */
export function expressionProblem(expression: string): string | undefined {
  try {
    RE2JS.compile(expression);
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}
