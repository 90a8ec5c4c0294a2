/** A checked `when` of a rule file → a condition. */
import { shown, type Place } from '../problems.js';
import { never, type Condition } from '../conditions/define.js';
import { conditions, conditionsByName } from '../conditions/registry.js';

/** Deeper nesting is a mistake; evaluation recurses this deep. */
const maxDepth = 20;

export function buildCondition(value: unknown, place: Place, depth = 0): Condition {
  if (depth > maxDepth) return wrong(place, `Conditions are nested more than ${maxDepth} deep.`);
  if (typeof value !== 'object' || value === null) return wrong(place, 'A condition is expected.', value);
  const found = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(found).filter((key) => conditionsByName.has(key));
  const [name] = names;
  const entry = names.length === 1 && name !== undefined ? conditionsByName.get(name) : undefined;
  if (entry === undefined || name === undefined)
    return wrong(
      place,
      names.length === 0
        ? 'The condition says nothing to test.'
        : 'A condition tests one thing; put several into `all` or `any`.',
      names,
    );
  const field = found['field'];
  if (entry.takesField && typeof field !== 'string') return wrong(place, `\`${name}\` needs \`field\`.`, found);
  if (!entry.takesField && field !== undefined)
    return wrong(place.at('field'), `\`${name}\` takes no \`field\`.`, field);
  const ignoreCase = found['ignore_case'] === true;
  if (ignoreCase && !entry.takesIgnoreCase)
    return wrong(place.at('ignore_case'), `\`${name}\` takes no \`ignore_case\`.`);
  const below = place.at(name);
  return entry.build(found[name], {
    file: place.file,
    path: below.path,
    at: below.at,
    report: below.report,
    field: typeof field === 'string' ? field : '',
    ignoreCase,
    nested: (inner, ...path) => buildCondition(inner, below.at(...path), depth + 1),
  });
}

function wrong(place: Place, message: string, got?: unknown): Condition {
  place.report(message, {
    got: got === undefined ? undefined : shown(got),
    allowed: conditions.map((entry) => entry.name).join(', '),
  });
  return never;
}
