/** Values by a schema: ones that fit it, ones that nearly do, and ones that nobody expects. */
import type { Schema } from '../described.js';
import type { Random } from './random.js';

export interface Values {
  pick<Item>(items: readonly Item[]): Item;
  chance(share: number): boolean;
  count(most: number): number;
  /** `name`: of the member or parameter; what is known of it goes before any text. */
  fitting(schema: Schema, name: string, depth?: number): unknown;
  /** A fitting one with one member, or itself, replaced. */
  nearly(schema: Schema, name: string): unknown;
  junk(): unknown;
}

interface ValuesOptions {
  readonly random: Random;
  readonly resolve: (schema: Schema) => Schema;
  /** Examples for a name; none: undefined. */
  readonly known: (name: string) => readonly unknown[] | undefined;
}

const words = [
  'a',
  'timestamp',
  'level',
  'source',
  'message',
  'container:pay',
  '*',
  'a AND (',
  '"',
  '[1 TO 2]',
  '/a+/',
  'last five minutes',
  'P1D',
  '1 GB',
  '1h',
  '2026-01-02T03:04:05.000Z',
  'asc',
  'timestamp:desc',
  'count',
  'size',
  'close',
  'Europe/Berlin',
  'AND',
  'x y',
  'Ärger',
  '日本',
  '127.0.0.1',
] as const;

const nested = (levels: number): unknown =>
  Array.from({ length: levels }).reduce((inner: unknown) => ({ a: [inner] }), 1);

/** A value each time, so that nobody changes what another one gets. */
const oddities: readonly (() => unknown)[] = [
  () => null,
  () => true,
  () => 0,
  () => -1,
  () => 0.5,
  () => 1e308,
  () => 9_007_199_254_740_993,
  () => -2_147_483_649,
  () => 1e15,
  () => '',
  () => ' ',
  () => 'x'.repeat(5_000),
  () => '\u0000',
  () => 'a\u0000b',
  () => '\ud800',
  () => '\udfff\ud800',
  () => '__proto__',
  () => 'constructor',
  () => 'hasOwnProperty',
  () => 'toString',
  () => 'valueOf',
  () => [],
  () => ({}),
  () => [[]],
  () => [null],
  () => nested(20),
  () => nested(60),
  () => JSON.parse('{"__proto__":{"polluted":1}}') as unknown,
  () => ({ constructor: { prototype: { polluted: 1 } } }),
  () => ({ length: 1e9 }),
  () => Array.from({ length: 1_200 }, (_, at) => at),
  () => ({ toString: 1, valueOf: null }),
  () => '../../etc/passwd',
  () => '%',
  () => '%00',
  () => '${x}',
  () => '<script>',
  () => '\u202e\u0007',
  () => '(a+)+$',
  () => '[[[',
  () => '\\',
  () => '{"a":1}',
  () => 'NaN',
  () => '-0',
  () => '1e999',
  () => 'now-1y/d',
  () => '0'.repeat(24),
  () => 'f'.repeat(24),
  () => '2026-13-45T99:99:99Z',
  () => '+275760-09-13T00:00:00.001Z',
  () => '😀'.repeat(300),
];

export function createValues({ random, resolve, known }: ValuesOptions): Values {
  const count = (most: number): number => Math.floor(random() * (most + 1));
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const chance = (share: number): boolean => random() < share;
  const junk = (): unknown => pick(oddities)();

  const textOf = ({
    pattern,
    format,
    minLength = 0,
    maxLength = 1_000,
  }: {
    pattern?: string;
    format?: string;
    minLength?: number;
    maxLength?: number;
  }): string => {
    if (pattern?.includes('{24}') === true)
      return Array.from({ length: 24 }, () => pick([...'0123456789abcdef'])).join('');
    if (pattern !== undefined) return `w${count(1e6)}`;
    if (format === 'date-time') return new Date(count(4e12)).toISOString();
    return pick(words).slice(0, maxLength).padEnd(minLength, 'x');
  };
  const numberOf = ({
    minimum = -1_000,
    maximum = 100_000,
    type,
  }: {
    minimum?: number;
    maximum?: number;
    type?: unknown;
  }): number => {
    const value = pick([
      minimum,
      maximum,
      minimum + random() * Math.min(maximum - minimum, 100),
      Math.min(Math.max(1, minimum), maximum),
    ]);
    return type === 'integer' ? Math.floor(value) : value;
  };
  const objectOf = (
    {
      properties = {},
      required = [],
      additionalProperties,
    }: { properties?: Readonly<Record<string, Schema>>; required?: readonly string[]; additionalProperties?: unknown },
    depth: number,
  ): Record<string, unknown> => {
    const named = Object.entries(properties)
      .filter(([name]) => required.includes(name) || chance(depth > 4 ? 0.1 : 0.5))
      .map(([name, inner]) => [name, fitting(inner, name, depth + 1)]);
    const free =
      typeof additionalProperties === 'object' && additionalProperties !== null
        ? Array.from({ length: count(2) }, () => [pick(words), fitting(additionalProperties as Schema, '', depth + 1)])
        : [];
    return Object.fromEntries([...named, ...free]) as Record<string, unknown>;
  };
  const listOf = (
    { items = {}, minItems = 0, maxItems = 1_000 }: { items?: Schema; minItems?: number; maxItems?: number },
    name: string,
    depth: number,
  ): unknown[] =>
    Array.from({ length: Math.min(maxItems, Math.max(minItems, count(depth > 4 ? 0 : 3))) }, () =>
      fitting(items, name, depth + 1),
    );

  function fitting(given: Schema, name: string, depth = 0): unknown {
    const schema = resolve(given);
    const examples = known(name);
    if (examples !== undefined && examples.length > 0 && schema['type'] !== 'array' && chance(0.8))
      return pick(examples);
    const {
      const: constant,
      enum: options,
      anyOf,
      oneOf,
    } = schema as { const?: unknown; enum?: readonly unknown[]; anyOf?: readonly Schema[]; oneOf?: readonly Schema[] };
    if (constant !== undefined) return constant;
    if (options !== undefined) return pick(options);
    const choices = anyOf ?? oneOf;
    if (choices !== undefined) return fitting(pick(choices), name, depth);
    switch (schema['type']) {
      case 'string':
        return textOf(schema);
      case 'integer':
      case 'number':
        return numberOf(schema);
      case 'boolean':
        return chance(0.5);
      case 'null':
        return null;
      case 'array':
        return listOf(schema, name, depth);
      case 'object':
        return objectOf(schema, depth);
      default:
        return pick<unknown>([pick(words), count(100), null, {}, [], { a: 1 }]);
    }
  }

  return {
    pick,
    chance,
    count,
    fitting,
    junk,
    nearly: (schema, name) => mutated(fitting(schema, name), { pick, chance, junk }),
  };
}

/** One place within the value, reached by chance. */
function mutated(value: unknown, { pick, chance, junk }: Pick<Values, 'pick' | 'chance' | 'junk'>): unknown {
  if (typeof value !== 'object' || value === null || chance(0.1)) return junk();
  if (Array.isArray(value)) {
    if (value.length === 0 || chance(0.2)) return [...(value as unknown[]), junk()];
    const at = pick([...value.keys()]);
    return value.with(at, mutated(value[at], { pick, chance, junk })) as unknown[];
  }
  const names = Object.keys(value);
  if (names.length === 0 || chance(0.15))
    return {
      ...value,
      [pick(['extra', '__proto__x', 'constructor', 'toString', 'valueOf', 'id', 'name', ''])]: junk(),
    };
  const name = pick(names);
  const members = value as Record<string, unknown>;
  if (chance(0.2)) return Object.fromEntries(Object.entries(members).filter(([other]) => other !== name));
  return { ...members, [name]: mutated(members[name], { pick, chance, junk }) };
}
