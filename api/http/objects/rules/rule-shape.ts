/** Rules as the API shows and takes them: in the words of rule files. */
import { Type, type Static } from 'typebox';
import type { Catalog, CatalogItem } from '../../../../definitions/contract.js';
import { has, type Identity } from '../../../../schemas/access.js';
import { showActions, showText, takeActions } from '../streams/hidden-streams.js';
import { flagOf, given, listOf, nullable, originFields, originOf, textOf } from '../shapes.js';

type Settings = Readonly<Record<string, unknown>>;

const condition = Type.Unsafe<Settings>({
  type: 'object',
  additionalProperties: true,
  description: 'A condition, as in rule files.',
});
const action = Type.Unsafe<Settings>({
  type: 'object',
  additionalProperties: true,
  description:
    'An action, as in rule files; `{route: {hidden: true}}` is one to a stream that the asker may not read, and stays when it is sent back.',
});

export const ruleFields = {
  description: Type.Optional(Type.String({ maxLength: 2_000 })),
  enabled: Type.Optional(Type.Boolean()),
  when: Type.Optional(condition),
  then: Type.Optional(Type.Array(action, { minItems: 1, maxItems: 100 })),
};
export const ruleBody = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        pattern: '^[a-z0-9][a-z0-9_-]*$',
        maxLength: 100,
        description:
          'Id of the rule; default: made from the description. Rules of the API run behind those of files, oldest first.',
      }),
    ),
    ...ruleFields,
  },
  { description: 'A rule.' },
);
type RuleBody = Static<typeof ruleBody>;

export const ruleAnswer = Type.Object(
  {
    id: Type.String(),
    ...originFields,
    description: Type.String(),
    enabled: Type.Boolean(),
    when: nullable(condition),
    then: Type.Array(action),
    is_editable: Type.Boolean(),
  },
  { description: 'A rule.' },
);

export function showRule(item: CatalogItem, catalog: Catalog, identity: Identity): Static<typeof ruleAnswer> {
  const { settings } = item;
  const actions = listOf<Settings>(settings['then']);
  return {
    ...originOf(item),
    description: showText(textOf(settings['description']), actions, catalog, identity),
    enabled: flagOf(settings['enabled'], true),
    when: (settings['when'] as Settings | undefined) ?? null,
    then: showActions(actions, identity),
    is_editable: has(identity, 'rules:edit') && item.origin !== 'file' && !item.derived,
  };
}

/** `before`: of a rule that is there already. */
export function takeRuleSettings(
  { description, enabled, when, then }: RuleBody,
  identity: Identity,
  before?: CatalogItem,
): Record<string, unknown> {
  return given({
    description,
    enabled,
    when,
    then: then === undefined ? undefined : takeActions(then, listOf<Settings>(before?.settings['then']), identity),
  });
}
