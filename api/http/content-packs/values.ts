/** Values of content packs, which stand with their types, and may be parameters. */
import { failure } from '../failure.js';
import { textOf } from '../objects/shapes.js';

type Members = Readonly<Record<string, unknown>>;

/**
 * `{"@type": "string", "@value": "x"}` → `x`, at any depth; parameters by their names. Bodies are nested 100 deep at
 * the most.
 */
export function plainValue(value: unknown, parameters: Members): unknown {
  if (Array.isArray(value)) return value.map((one) => plainValue(one, parameters));
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Members;
  if ('@type' in members && '@value' in members)
    return members['@type'] === 'parameter'
      ? parameterOf(textOf(members['@value']), parameters)
      : plainValue(members['@value'], parameters);
  return Object.fromEntries(Object.entries(members).map(([key, one]) => [key, plainValue(one, parameters)]));
}

function parameterOf(name: string, parameters: Members): unknown {
  if (!Object.hasOwn(parameters, name)) throw failure('API_REQUEST_REFUSED', `The parameter ${name} has no value.`);
  return plainValue(parameters[name], {});
}

/** Those that are given, over the defaults of the pack. */
export function parametersOf(defined: readonly Members[], given: Members): Members {
  const defaults = defined
    .filter((one) => one['default_value'] !== undefined && one['default_value'] !== null)
    .map((one) => [textOf(one['name']), one['default_value']] as const);
  return { ...Object.fromEntries(defaults), ...given };
}
