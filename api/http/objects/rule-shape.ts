/** Rules as the API shows and takes them: in the words of rule files. */
import { Type, type Static } from 'typebox';
import type { Catalog } from '../../../pipeline/objects/catalog.js';
import { flagOf, given, listOf, nullable, originFields, originOf, textOf } from './shapes.js';

type CatalogItem = ReturnType<Catalog['list']>[number];
type Settings = Readonly<Record<string, unknown>>;

const condition = Type.Unsafe<Settings>({ type: 'object', additionalProperties: true, description: 'A condition, as in rule files.' });
const action = Type.Unsafe<Settings>({ type: 'object', additionalProperties: true, description: 'An action, as in rule files.' });

export const ruleFields = {
  description: Type.Optional(Type.String({ maxLength: 2_000 })), enabled: Type.Optional(Type.Boolean()), when: Type.Optional(condition), then: Type.Optional(Type.Array(action, { minItems: 1, maxItems: 100 })),
};
export const ruleBody = Type.Object({
  name: Type.Optional(Type.String({ pattern: '^[a-z0-9][a-z0-9_-]*$', maxLength: 100, description: 'Id of the rule; default: made from the description. Rules of the API run behind those of files, oldest first.' })), ...ruleFields,
}, { description: 'A rule.' });
export type RuleBody = Static<typeof ruleBody>;

export const ruleAnswer = Type.Object({
  id: Type.String(), ...originFields, description: Type.String(), enabled: Type.Boolean(), when: nullable(condition), then: Type.Array(action), is_editable: Type.Boolean(),
}, { description: 'A rule.' });

export function showRule(item: CatalogItem, mayEdit: boolean): Static<typeof ruleAnswer> {
  const { settings } = item;
  return {
    ...originOf(item), description: textOf(settings['description']), enabled: flagOf(settings['enabled'], true), when: (settings['when'] as Settings | undefined) ?? null, then: [...listOf<Settings>(settings['then'])], is_editable: mayEdit && item.origin !== 'file' && !item.derived,
  };
}

export function takeRuleSettings({ description, enabled, when, then }: RuleBody): Record<string, unknown> {
  return given({ description, enabled, when, then });
}
