/** Checks settings against the schema with ajv, fills in the defaults, and tells every problem with its place. */
import { Ajv, type ErrorObject, type KeywordDefinition, type ValidateFunction } from 'ajv';
import { shown, settingName, type ConfigProblem, type SettingPath } from './problem.js';
import { allowedText, childSchema, objectSchema, type SettingSchema } from './schema.js';
import { suggest } from './suggest.js';

interface VariantError extends Partial<ErrorObject> {
  readonly keyword: string;
}

/** Checks a mapping against the variant that its `type` names, and against no other. */
const variantsKeyword: KeywordDefinition = {
  keyword: 'variants',
  type: 'object',
  errors: 'full',
  modifying: true,
  compile(variants: Readonly<Record<string, SettingSchema>>, _parent, context) {
    const compiled = new Map<string, ValidateFunction>(
      Object.entries(variants).map(([type, schema]) => [type, context.self.compile(schema)]),
    );
    const check = (data: Record<string, unknown>, place?: { readonly instancePath: string }): boolean => {
      const path = place?.instancePath ?? '';
      const variant = compiled.get(String(data['type']));
      if (variant === undefined) {
        check.errors = [{ keyword: 'enum', instancePath: `${path}/type`, schemaPath: '', params: {} }];
        return false;
      }
      if (variant(data)) return true;
      check.errors = (variant.errors ?? []).map((error) => ({ ...error, instancePath: path + error.instancePath }));
      return false;
    };
    check.errors = [] as VariantError[];
    return check;
  },
};

/** Where a setting stands: in the file, or the variable that sets it. `ofKey`: of its name, not its value. */
export type PlaceOf = (path: SettingPath, ofKey: boolean) => string;

/** Changes `values`: defaults are filled in. */
export type CheckValues = (values: Record<string, unknown>, place: PlaceOf) => ConfigProblem[];

export function createCheck(schema: SettingSchema): CheckValues {
  const ajv = new Ajv({
    allErrors: true,
    useDefaults: true,
    verbose: false,
    strict: true,
    strictTypes: false,
    allowUnionTypes: true,
  });
  ajv.addKeyword('secret');
  ajv.addKeyword(variantsKeyword);
  const validate = ajv.compile(schema);
  return (values, place) =>
    validate(values)
      ? []
      : withoutRepeats(
          (validate.errors ?? [])
            .filter((error) => error.keyword !== 'variants')
            .map((error) => describe(values, error, schema, place)),
        );
}

function withoutRepeats(problems: readonly ConfigProblem[]): ConfigProblem[] {
  const seen = new Set<string>();
  return problems.filter((problem) => {
    const key = `${problem.setting} ${problem.code} ${problem.code === 'CONFIG_SETTING_UNKNOWN' ? problem.got : ''}`;
    return !seen.has(key) && seen.add(key);
  });
}

function describe(
  values: Record<string, unknown>,
  error: ErrorObject,
  root: SettingSchema,
  place: PlaceOf,
): ConfigProblem {
  const path = error.instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { schema, value, keys } = follow(values, path, root);
  if (error.keyword === 'additionalProperties') {
    const key = String((error.params as { additionalProperty: string }).additionalProperty);
    const names = Object.keys(objectSchema(schema, value)?.properties ?? {});
    return {
      code: 'CONFIG_SETTING_UNKNOWN',
      place: place([...keys, key], true),
      setting: settingName(keys),
      got: key,
      allowed: names.join(', '),
      didYouMean: suggest(key, names),
    };
  }
  const isText = typeof value === 'string';
  const near = isText ? suggest(value, schema.type === 'boolean' ? [] : (schema.enum ?? []).map(String)) : undefined;
  const wordForBoolean =
    isText && schema.type === 'boolean'
      ? /^(?:yes|on|1)$/i.test(value)
        ? 'true'
        : /^(?:no|off|0)$/i.test(value)
          ? 'false'
          : undefined
      : undefined;
  const size = settingName(keys).endsWith('_bytes') ? ', or a size such as 64 MiB' : '';
  return {
    code: 'CONFIG_VALUE_INVALID',
    place: place(keys, false),
    setting: settingName(keys),
    got: schema.secret === true ? `a hidden ${value === null ? 'null' : typeof value}` : shown(value),
    allowed: allowedText(schema) + size,
    didYouMean: near ?? wordForBoolean,
  };
}

/** Schema and value at a JSON pointer, with list places as numbers. */
function follow(
  values: Record<string, unknown>,
  path: readonly string[],
  root: SettingSchema,
): { schema: SettingSchema; value: unknown; keys: (string | number)[] } {
  let schema = root;
  let value: unknown = values;
  const keys: (string | number)[] = [];
  for (const part of path) {
    const key = Array.isArray(value) ? Number(part) : part;
    const child = childSchema(schema, key, value);
    if (part === 'type' && schema.variants !== undefined) schema = { enum: Object.keys(schema.variants) };
    else schema = child ?? {};
    value = (value as Record<string | number, unknown> | undefined)?.[key];
    keys.push(key);
  }
  return { schema, value, keys };
}
