/** Named patterns that people keep through the API, for the action grok of pipeline rules and extractors. */
import { at } from '../../core/at.js';
import { grokName, grokProblems } from '../../rules/actions/grok.js';
import { grokPatterns as shipped } from '../../rules/actions/parsing/grok-patterns.js';
import type { StoredDefinitions, Settings } from '../stored.js';

export type GrokTable = Readonly<Record<string, string>>;

const section = 'grok-patterns';
const reference = /%\{([^{}:;]*)[^{}]*\}/g;

/** As they were given. */
export function grokTable(stored: StoredDefinitions): GrokTable {
  return (stored.find(({ kind }) => kind === section)?.definition['patterns'] as GrokTable | undefined) ?? {};
}

/**
 * Graylog's patterns use what linear-time matching does not have. An atomic group becomes a plain one and a possessive
 * repetition a plain one: both only forbid going back, which does not happen here. The rest is left as it is.
 */
function portable(pattern: string): string {
  let result = '';
  let inClass = false;
  for (let index = 0; index < pattern.length; index += 1) {
    const character = at(pattern, index);
    if (character === '\\') {
      result += pattern.slice(index, index + 2);
      index += 1;
    } else if (!inClass && pattern.startsWith('(?>', index)) {
      result += '(?:';
      index += 2;
    } else {
      if (character === '[') inClass = true;
      else if (character === ']') inClass = false;
      result += character;
      if (!inClass && '*+?}'.includes(character) && pattern[index + 1] === '+') index += 1;
    }
  }
  return result;
}

/** Each is compiled when one of them changes. */
export const maxPatterns = 500;

let last: { readonly text: string; readonly usable: GrokTable } | undefined;

/**
 * Those that compile, with the names that they refer to. A name that ships stands in for one of the same name that does
 * not.
 */
function usablePatterns(table: GrokTable): GrokTable {
  const text = JSON.stringify(table);
  if (last?.text !== text) last = { text, usable: onlyUsable(table) };
  return last.usable;
}

/** Each pattern that falls out may be what others refer to. */
function onlyUsable(table: GrokTable): GrokTable {
  let rest: GrokTable = Object.fromEntries(
    Object.entries(table)
      .filter(([name]) => grokName.test(name))
      .map(([name, pattern]) => [name, portable(pattern)]),
  );
  for (;;) {
    const patterns = rest;
    const left = Object.entries(patterns).filter(
      ([name, pattern]) =>
        grokProblems(`%{${name}:any}`, neededBy(pattern, { ...patterns, [name]: pattern }, name)).length === 0,
    );
    if (left.length === Object.keys(patterns).length) return patterns;
    rest = Object.fromEntries(left);
  }
}

/** The pattern itself and all that it refers to. */
function neededBy(pattern: string, table: GrokTable, self?: string): GrokTable {
  const found: Record<string, string> = self === undefined ? {} : { [self]: pattern };
  const waiting = [pattern];
  for (let text = waiting.pop(); text !== undefined; text = waiting.pop()) {
    for (const [, name = ''] of text.matchAll(reference)) {
      const inner = Object.hasOwn(table, name) ? table[name] : undefined;
      if (inner === undefined || Object.hasOwn(found, name)) continue;
      found[name] = inner;
      waiting.push(inner);
    }
  }
  return found;
}

/** Why a pattern is not used as it is; undefined: it is. */
export function grokProblem(name: string, table: GrokTable): string | undefined {
  const pattern = table[name];
  if (pattern === undefined || Object.hasOwn(usablePatterns(table), name)) return undefined;
  const [problem = 'Its name cannot be used.'] = grokName.test(name)
    ? grokProblems(portable(pattern).replaceAll(reference, 'x'), {}).filter((text) => !text.includes('names no field'))
    : [];
  const reason =
    problem === 'Its name cannot be used.' && grokName.test(name)
      ? 'It refers to a pattern that is not there or cannot be used.'
      : problem;
  return Object.hasOwn(shipped, name)
    ? `${reason} The pattern of this name that ships is used instead.`
    : `${reason} What refers to it is refused.`;
}

/** A pattern that no dialect would read. */
export function isBroken(pattern: string): boolean {
  const [problem] = grokProblems(portable(pattern).replaceAll(reference, 'x'), {}).filter(
    (text) => !text.includes('names no field'),
  );
  return problem !== undefined && /missing closing|unexpected \)|missing argument|trailing backslash/.test(problem);
}

/** Actions with the stored patterns that they refer to. */
export function withGrokPatterns(actions: readonly Settings[], table: GrokTable): readonly Settings[] {
  if (!actions.some((action) => 'grok' in action)) return actions;
  const all = usablePatterns(table);
  return actions.map((action) => {
    const options = action['grok'] as (Settings & { readonly pattern: string }) | undefined;
    if (options === undefined) return action;
    const patterns = neededBy(options.pattern, all);
    return Object.keys(patterns).length === 0 ? action : { grok: { ...options, patterns } };
  });
}
