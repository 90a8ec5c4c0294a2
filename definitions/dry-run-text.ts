/** What the obfuscation finds in a text, by pattern. */
import type { FoundText, TextDryRun } from './contract.js';
import type { RuleFileObfuscation } from '../schemas/rule-files.js';
import { compilePattern } from '../rules/pattern.js';
import { obfuscateText, type SensitivePattern } from '../rules/obfuscation.js';

const defaultReplacement = '********';

/**
 * Whether obfuscation is switched on makes no difference. Patterns are those of a compiled rule set, so that each
 * compiles.
 */
export function dryRunObfuscation(
  text: string,
  { patterns = [], white_patterns: whitePatterns = [], replacement = defaultReplacement }: RuleFileObfuscation,
): TextDryRun {
  const usable = (items: typeof patterns) =>
    items.flatMap(({ id, pattern, enabled, importance = 1 }) => {
      const compiled = enabled === false || pattern === undefined ? undefined : compilePattern(pattern);
      return compiled === undefined || 'error' in compiled ? [] : [{ id, pattern: compiled, importance }];
    });
  const sensitive = usable(patterns);
  const white = usable(whitePatterns).map(({ pattern }) => pattern);
  const found = sensitive.flatMap((pattern) =>
    matchesOf(text, pattern).filter((match) => !white.some(({ re2 }) => re2.matches(match.text))),
  );
  return {
    text: obfuscateText(text, { patterns: sensitive, white, replacement }),
    found: found.sort((left, right) => left.start - right.start || right.end - left.end),
  };
}

/** The reason why a pattern cannot be used. */
export function patternProblem(pattern: string): string | undefined {
  const compiled = compilePattern(pattern);
  return 'error' in compiled ? compiled.error : undefined;
}

function matchesOf(text: string, { id, pattern }: SensitivePattern & { readonly id: string }): readonly FoundText[] {
  const matches: FoundText[] = [];
  const matcher = pattern.re2.matcher(text);
  while (matcher.find()) {
    const [start, end] = [matcher.start(), matcher.end()];
    if (end > start) matches.push({ start, end, text: text.slice(start, end), pattern: id });
  }
  return matches;
}
