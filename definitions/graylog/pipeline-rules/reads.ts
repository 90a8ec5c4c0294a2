/** Fields that a condition of a rule file looks at, under both of their names. */
import { aliases } from '../../../rules/fields.js';
import type { Settings } from '../../stored.js';

export function readFields(condition: Settings): ReadonlySet<string> {
  const found = new Set<string>();
  const walk = (one: Settings): void => {
    const { field } = one;
    if (typeof field === 'string')
      for (const name of [field, aliases.get(field)]) if (name !== undefined) found.add(name);
    for (const key of ['all', 'any'] as const)
      for (const inner of (one[key] as readonly Settings[] | undefined) ?? []) walk(inner);
    if ('not' in one) walk(one['not'] as Settings);
  };
  walk(condition);
  return found;
}
