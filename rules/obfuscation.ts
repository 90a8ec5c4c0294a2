/** Replaces sensitive text. It fails closed: a field that cannot be searched is removed. */
import type { Pattern } from './pattern.js';
import type { RuleTarget } from './target.js';

export interface SensitivePattern {
  readonly pattern: Pattern;
  readonly importance: number;
}

export interface Obfuscator {
  readonly patterns: readonly SensitivePattern[];
  /** A match that one of these matches as a whole is not sensitive. */
  readonly white: readonly Pattern[];
  readonly replacement: string;
}

interface Span {
  readonly start: number;
  readonly end: number;
  readonly importance: number;
}

/** Obfuscates one text field of the message; other kinds of value are left alone. */
export function obfuscateField(target: RuleTarget, field: string, obfuscator: Obfuscator): void {
  try {
    const value = target.document[field];
    if (typeof value !== 'string') return;
    const text = obfuscateText(value, obfuscator);
    if (text !== value) target.set(field, text);
  } catch {
    target.remove(field);
    target.adjust(`${field} removed: it could not be obfuscated`);
  }
}

export function obfuscateText(text: string, { patterns, white, replacement }: Obfuscator): string {
  const found: Span[] = [];
  for (const sensitive of patterns) collect(text, sensitive, white, found);
  if (found.length === 0) return text;
  let result = '';
  let position = 0;
  for (const { start, end } of resolveOverlaps(found)) {
    result += text.slice(position, start) + replacement;
    position = end;
  }
  return result + text.slice(position);
}

function collect(
  text: string,
  { pattern, importance }: SensitivePattern,
  white: readonly Pattern[],
  found: Span[],
): void {
  if (!pattern.mayMatch(text)) return;
  const matcher = pattern.re2.matcher(text);
  while (matcher.find()) {
    const start = matcher.start();
    const end = matcher.end();
    if (end > start && !white.some((allowed) => allowed.re2.matches(text.slice(start, end))))
      found.push({ start, end, importance });
  }
}

/**
 * From left to right, the longer first: a match inside another goes; of two that overlap in part the more important
 * one stays and the other goes, equally important ones become one.
 */
function resolveOverlaps(found: readonly Span[]): readonly Span[] {
  const sorted = [...found].sort((left, right) => left.start - right.start || right.end - left.end);
  const kept: Span[] = [];
  for (const next of sorted) {
    const last = kept.at(-1);
    if (last === undefined || next.start >= last.end) kept.push(next);
    else if (next.end > last.end) {
      if (next.importance === last.importance) kept[kept.length - 1] = { ...last, end: next.end };
      else if (next.importance > last.importance) kept[kept.length - 1] = next;
    }
  }
  return kept;
}
