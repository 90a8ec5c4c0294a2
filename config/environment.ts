/**
 * `SLUICE_TOPICS__KIND=kafka`: environment variables over the settings file. Two underscores nest, numbers index lists.
 */
import { parseBytes } from '../core/bytes.js';
import type { ConfigProblem, SettingPath } from './problem.js';
import { allowedText, childSchema, hasType, isRecord, settingNames, type SettingSchema } from './schema.js';
import { suggest } from './suggest.js';

export const variablePrefix = 'SLUICE_';
/** Names the settings file itself; read by the command line. */
export const fileVariable = 'SLUICE_CONFIG';
/** Kubernetes sets these in every container when a Service is named sluice or sluice-something. */
const serviceVariable =
  /^SLUICE_(?:[A-Z0-9_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/;

interface Overlay {
  readonly problems: readonly ConfigProblem[];
  /** Setting path joined by `/` → the variable or override that set it. */
  readonly places: ReadonlyMap<string, string>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Writes the variables into `values`. */
export function overlayEnvironment(
  schema: SettingSchema,
  values: Record<string, unknown>,
  environment: Environment,
): Overlay {
  const problems: ConfigProblem[] = [];
  const places = new Map<string, string>();
  const names = Object.keys(environment).filter(
    (name) =>
      environment[name] !== undefined &&
      name.startsWith(variablePrefix) &&
      name !== fileVariable &&
      !name.startsWith('SLUICE_TEST_') &&
      (name.includes('__') || !serviceVariable.test(name)),
  );
  // Whole lists before their parts, a variant's type before its other settings.
  const rank = (name: string) => name.split('__').length * 2 + (name.endsWith('__TYPE') ? 0 : 1);
  for (const name of names.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))) {
    const path = name
      .slice(variablePrefix.length)
      .toLowerCase()
      .split('__')
      .map((part) => (/^\d{1,4}$/.test(part) ? Number(part) : part));
    const problem = setAt(schema, values, { path, value: environment[name] ?? '', place: name });
    if (problem !== undefined) problems.push(problem);
    else places.set(path.join('/'), name);
  }
  return { problems, places };
}

/** Overrides of the command line, by dotted setting name. */
export function overlaySettings(
  schema: SettingSchema,
  values: Record<string, unknown>,
  overrides: Readonly<Record<string, unknown>>,
): Overlay {
  const problems: ConfigProblem[] = [];
  const places = new Map<string, string>();
  for (const [name, value] of Object.entries(overrides)) {
    if (value === undefined) continue;
    const path = name.split('.').map((part) => (/^\d{1,4}$/.test(part) ? Number(part) : part));
    const place = `override ${name}`;
    const problem = setAt(schema, values, { path, value, place });
    if (problem !== undefined) problems.push(problem);
    else places.set(path.join('/'), place);
  }
  return { problems, places };
}

interface GivenValue {
  readonly path: SettingPath;
  readonly value: unknown;
  /** The variable or override that gives it. */
  readonly place: string;
}

function setAt(
  root: SettingSchema,
  values: Record<string, unknown>,
  { path, value, place }: GivenValue,
): ConfigProblem | undefined {
  let schema = root;
  let container: Record<string | number, unknown> = values;
  for (const [depth, key] of path.entries()) {
    const child = childSchema(schema, key, container);
    if (child === undefined || (typeof key === 'number') !== Array.isArray(container))
      return unknownSetting(schema, path, key, place);
    if (typeof key === 'number' && key > (container as unknown as unknown[]).length) {
      return {
        code: 'CONFIG_VALUE_INVALID',
        place,
        setting: '',
        got: `place ${key} of a list of ${(container as unknown as unknown[]).length}`,
        allowed: 'a place of the list, or the next one',
        didYouMean: undefined,
      };
    }
    if (depth === path.length - 1) {
      container[key] = typeof value === 'string' ? readValue(child, value) : value;
      return undefined;
    }
    const present = Object.hasOwn(container, key) ? container[key] : undefined;
    const next =
      isRecord(present) || Array.isArray(present)
        ? present
        : structuredClone(isRecord(child.default) || Array.isArray(child.default) ? child.default : {});
    container[key] = next;
    container = next as Record<string | number, unknown>;
    schema = child;
  }
  return undefined;
}

function unknownSetting(schema: SettingSchema, path: SettingPath, key: string | number, place: string): ConfigProblem {
  const names = [...new Set(settingNames(schema))];
  const near = suggest(String(key), names);
  const spelled = place.startsWith('override')
    ? near
    : near === undefined
      ? undefined
      : variablePrefix + path.map((part) => (part === key ? near : String(part)).toUpperCase()).join('__');
  return {
    code: 'CONFIG_SETTING_UNKNOWN',
    place,
    setting: '',
    got: String(key),
    allowed:
      schema.items !== undefined
        ? 'a number, the place in the list'
        : names.length === 0
          ? `${allowedText(schema)}, nothing below`
          : names.join(', '),
    didYouMean: spelled,
  };
}

/** The text of a variable as a value of the schema's type; what does not read stays text, for the check to refuse. */
function readValue(schema: SettingSchema, text: string): unknown {
  const trimmed = text.trim();
  if (hasType(schema, 'null') && (trimmed === 'null' || trimmed === '')) return null;
  if (hasType(schema, 'integer')) return /^[+-]?\d+$/.test(trimmed) ? Number(trimmed) : text;
  if (schema.type === 'boolean') return trimmed === 'true' ? true : trimmed === 'false' ? false : text;
  if (schema.type === 'array' && schema.items?.type === 'string' && !trimmed.startsWith('['))
    return trimmed === '' ? [] : trimmed.split(',').map((one) => one.trim());
  if (schema.type === 'array' || schema.type === 'object') {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      return text;
    }
  }
  return text;
}

/**
 * Sizes written as `64 MiB`, and the word null where it is a choice: made values of their type before the check. In
 * place.
 */
export function normaliseValues(schema: SettingSchema, value: unknown): unknown {
  if (value === null && schema.enum?.includes('null') === true) return 'null';
  if (Array.isArray(value) && schema.items !== undefined) {
    const { items } = schema;
    value.forEach((one, at) => (value[at] = normaliseValues(items, one)));
  } else if (isRecord(value)) {
    for (const key of Object.keys(value)) {
      const child = childSchema(schema, key, value);
      if (child !== undefined)
        value[key] =
          isSize(key, child) && typeof value[key] === 'string'
            ? (parseBytes(value[key]) ?? value[key])
            : normaliseValues(child, value[key]);
    }
  }
  return value;
}

function isSize(name: string, schema: SettingSchema): boolean {
  return name.endsWith('_bytes') && hasType(schema, 'integer');
}
