/**
 * The settings schema in the one form that this folder works with: unions of constants are `enum`, unions with null are
 * type lists, and unions of objects by `type` are `variants`, so that an error speaks of the chosen variant only.
 */

export interface SettingSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, SettingSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: SettingSchema;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** Of text: one word, `^auto$`. */
  readonly pattern?: string;
  readonly secret?: boolean;
  readonly variants?: Readonly<Record<string, SettingSchema>>;
}

interface RawSchema extends Omit<SettingSchema, 'properties' | 'items'> {
  readonly properties?: Readonly<Record<string, RawSchema>>;
  readonly items?: RawSchema;
  readonly anyOf?: readonly RawSchema[];
  readonly const?: unknown;
  readonly discriminator?: unknown;
}

/** From a schema as `schemas/config/` composes it. */
export function settingsSchemaOf(schema: object): SettingSchema {
  return without(normalise(schema), 'default');
}

function normalise(raw: RawSchema): SettingSchema {
  const { anyOf, const: constant, properties, items, ...rest } = raw;
  const base: SettingSchema = {
    ...without(rest, 'discriminator'),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, normalise(one)])) }),
    ...(items === undefined ? {} : { items: normalise(items) }),
    ...(constant === undefined ? {} : { enum: [constant] }),
  };
  if (anyOf === undefined) return base;
  if (anyOf.every((one) => one.const !== undefined)) return { ...base, enum: anyOf.map((one) => one.const) };
  const branches = anyOf.map(normalise);
  if (branches.every((branch) => branch.properties?.['type']?.enum !== undefined)) {
    return {
      ...base,
      type: 'object',
      variants: Object.fromEntries(branches.map((branch) => [String(branch.properties?.['type']?.enum?.[0]), branch])),
    };
  }
  return {
    ...branches.reduce((joined, branch) => ({ ...joined, ...branch }), {}),
    ...base,
    type: branches.flatMap((branch) => branch.type ?? []),
  };
}

function without<Shape extends object, Key extends keyof Shape>(object: Shape, key: Key): Omit<Shape, Key> {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key)) as Omit<Shape, Key>;
}

/** The schema of a part of a value: of the variant that the value's `type` names, of any when it names none. */
export function childSchema(schema: SettingSchema, key: string | number, value: unknown): SettingSchema | undefined {
  if (typeof key === 'number') return schema.items;
  return [objectSchema(schema, value) ?? {}, ...Object.values(schema.variants ?? {})]
    .map((one) => ownSetting(one, key))
    .find((one) => one !== undefined);
}

function ownSetting(schema: SettingSchema, name: string): SettingSchema | undefined {
  return schema.properties !== undefined && Object.hasOwn(schema.properties, name)
    ? schema.properties[name]
    : undefined;
}

export function objectSchema(schema: SettingSchema, value: unknown): SettingSchema | undefined {
  if (schema.variants === undefined) return schema;
  const type = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)['type'] : undefined;
  return typeof type === 'string' && Object.hasOwn(schema.variants, type) ? schema.variants[type] : undefined;
}

/** Names of all settings of a mapping, of every variant where there are several. */
export function settingNames(schema: SettingSchema): string[] {
  return [schema, ...Object.values(schema.variants ?? {})].flatMap((one) => Object.keys(one.properties ?? {}));
}

export function hasType(schema: SettingSchema, type: string): boolean {
  return schema.type === type || (Array.isArray(schema.type) && schema.type.includes(type));
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a setting takes, in words. */
export function allowedText(schema: SettingSchema): string {
  if (schema.variants !== undefined) return `a mapping with type ${Object.keys(schema.variants).join(', ')}`;
  if (schema.enum !== undefined) return schema.enum.map(String).join(', ');
  const types = (typeof schema.type === 'string' ? [schema.type] : (schema.type ?? [])).map(
    (type) => (type === 'string' ? schema.pattern?.slice(1, -1) : undefined) ?? typeNames[type] ?? type,
  );
  const range =
    schema.maximum !== undefined
      ? ` from ${schema.minimum ?? 0} to ${schema.maximum}`
      : schema.minimum !== undefined
        ? ` of at least ${schema.minimum}`
        : '';
  const named = types.map((type) => (type === 'a whole number' ? type + range : type));
  return schema.type === 'array' && schema.items !== undefined
    ? `a list, each ${allowedText(schema.items)}`
    : named.join(' or ');
}
const typeNames: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  string: 'text',
  boolean: 'true or false',
  object: 'a mapping',
  array: 'a list',
  null: 'null',
};
