import { Type } from 'typebox';
import type { FieldValue } from '../../schemas/messages.js';
import { compilePattern, maxPatternLength, type Pattern } from '../pattern.js';
import { didYouMean, shown, type Place } from '../problems.js';
import { convertValue, type ValueKind } from './convert.js';
import { checkWritable, defineAction, nothing } from './define.js';
import { sourceOptions, sourceReader, writeFound } from './parsing/fields-of-text.js';
import { grokPatterns } from './parsing/grok-patterns.js';

/** Patterns refer to patterns; deeper is a circle. */
const maxDepth = 12;

/** Names of patterns. */
export const grokName = /^[A-Za-z][A-Za-z0-9_.-]*$/;

export const grok = defineAction({
  name: 'grok',
  description:
    'Finds a pattern made of named patterns: `%{NAME}` matches, `%{NAME:field}` makes a field, `%{NAME:field:number}` converts it (number, string, boolean). All else is RE2 syntax.',
  schema: Type.Object(
    {
      ...sourceOptions,
      pattern: Type.String({ description: 'Grok pattern, found anywhere in the text.', minLength: 1 }),
      patterns: Type.Optional(
        Type.Record(Type.String({ pattern: grokName.source }), Type.String(), {
          description: 'Further named patterns; they go before the ones that ship.',
        }),
      ),
      overwrite: Type.Optional(Type.Boolean({ description: 'false: only where the field is missing.', default: true })),
    },
    { additionalProperties: false, description: 'Named patterns become fields.' },
  ),
  example: {
    then: [
      {
        grok: {
          field: 'message',
          pattern: '^%{IP:client} %{HTTPMETHOD:method} %{URIPATH:path} %{HTTPSTATUS:status:number}',
        },
      },
    ],
    before: { message: '192.0.2.7 GET /cart 200' },
    after: { message: '192.0.2.7 GET /cart 200', client: '192.0.2.7', method: 'GET', path: '/cart', status: 200 },
  },
  build: (options, place) => {
    const read = sourceReader(options, place);
    const { overwrite = true, remove = false } = options;
    const compiled = compileGrok(options.pattern, options.patterns ?? {}, place.at('pattern'));
    if (compiled === undefined) return nothing;
    return {
      text: `grok ${options.pattern} in ${options.field}`,
      run: (target) => {
        const text = read(target);
        const found = text === undefined ? undefined : findFields(compiled, text);
        if (found !== undefined && writeFound(target, found, overwrite) && remove) target.remove(options.field);
      },
    };
  },
});

/** What is wrong with a pattern; nothing when it can be used. */
export function grokProblems(source: string, own: Readonly<Record<string, string>>): readonly string[] {
  const problems: string[] = [];
  const place: Place = {
    file: '',
    path: [],
    at: () => place,
    report: (message, { got } = {}) => void problems.push(got === undefined ? message : `${message} Got ${got}.`),
  };
  compileGrok(source, own, place);
  return problems;
}

interface Capture {
  readonly group: string;
  readonly field: string;
  readonly kind: ValueKind | undefined;
}

interface CompiledGrok {
  readonly pattern: Pattern;
  readonly captures: readonly Capture[];
}

function compileGrok(source: string, own: Readonly<Record<string, string>>, place: Place): CompiledGrok | undefined {
  const captures: Capture[] = [];
  const known = new Map([...Object.entries(grokPatterns), ...Object.entries(own)]);
  const expanded = expand(source, { known, captures, place }, 0);
  if (expanded === undefined) return undefined;
  const pattern = compilePattern(expanded);
  if ('error' in pattern) {
    place.report(`The pattern cannot be compiled: ${pattern.error}.`, {
      got: shown(source),
      allowed: 'named patterns and RE2 syntax, without look-around and back-references',
    });
    return undefined;
  }
  if (captures.length === 0)
    place.report('The pattern names no field, so it would find nothing.', {
      got: shown(source),
      allowed: '%{NAME:field}',
    });
  return { pattern, captures };
}

const reference = /%\{([^}:]*)(?::([^}:]*))?(?::([^}]*))?\}/g;

interface Expansion {
  readonly known: ReadonlyMap<string, string>;
  readonly captures: Capture[];
  readonly place: Place;
}

/** Each field becomes a group of our own naming, because field names may hold what group names cannot. */
function expand(source: string, expansion: Expansion, depth: number): string | undefined {
  const { known, captures, place } = expansion;
  if (depth > maxDepth) {
    place.report(`Named patterns refer to each other more than ${maxDepth} deep; do they go in a circle?`);
    return undefined;
  }
  let failed = false;
  const expanded = source.replace(
    reference,
    (whole, name: string, field: string | undefined, kind: string | undefined) => {
      if (failed) return whole;
      const inner = known.get(name);
      if (inner === undefined)
        place.report('There is no named pattern of this name.', {
          got: shown(name),
          allowed: 'see docs/reference/rules.md',
          suggestion: didYouMean(name, known.keys()),
        });
      const group = field === undefined || field === '' ? undefined : capture(captures, field, kind, place);
      const text = inner === undefined ? undefined : expand(inner, expansion, depth + 1);
      if (text === undefined || text.length > maxPatternLength) {
        failed = true;
        return whole;
      }
      return group === undefined ? `(?:${text})` : `(?P<${group}>${text})`;
    },
  );
  return failed || expanded.length > maxPatternLength ? undefined : expanded;
}

function capture(captures: Capture[], field: string, kind: string | undefined, place: Place): string {
  checkWritable(field, place);
  const kinds: Readonly<Record<string, ValueKind>> = {
    number: 'number',
    int: 'number',
    integer: 'number',
    long: 'number',
    float: 'number',
    double: 'number',
    string: 'string',
    boolean: 'boolean',
  };
  if (kind !== undefined && kinds[kind] === undefined)
    place.report('A field cannot be converted to this.', {
      got: shown(kind),
      allowed: 'number, string, boolean',
      suggestion: didYouMean(kind, Object.keys(kinds)),
    });
  const group = `g${captures.length}`;
  captures.push({ group, field, kind: kind === undefined ? undefined : kinds[kind] });
  return group;
}

/** Of two groups for one field the first that took part wins. */
function findFields({ pattern, captures }: CompiledGrok, text: string): Map<string, FieldValue> | undefined {
  if (!pattern.mayMatch(text)) return undefined;
  const matcher = pattern.re2.matcher(text);
  if (!matcher.find()) return undefined;
  const found = new Map<string, FieldValue>();
  for (const { group, field, kind } of captures) {
    const value = matcher.group(group);
    if (value === null || value === '' || found.has(field)) continue;
    found.set(field, kind === undefined ? value : (convertValue(value, kind) ?? value));
  }
  return found;
}
