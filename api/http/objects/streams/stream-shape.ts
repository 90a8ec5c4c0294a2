/** Streams and their rules as the API shows and takes them; in rule files the same facts have other names. */
import { createHash } from 'node:crypto';
import { Type, type Static } from 'typebox';
import { apiIdOf } from '../../../../core/object-ids.js';
import type { CatalogItem } from '../../../../definitions/contract.js';
import type { RuleFileStreamRule } from '../../../../schemas/rule-files.js';
import { failure } from '../../failure.js';
import { flagOf, given, listOf, nullable, objectId, originFields, originOf, textOf } from '../shapes.js';

export type StreamRule = RuleFileStreamRule;

/** As in `docs/api.md`: number, name, what it says. */
export const ruleTypes = [
  {
    id: 1,
    name: 'exact',
    short_desc: 'match exactly',
    long_desc: 'The field, without blanks around it, is this text.',
  },
  {
    id: 2,
    name: 'regex',
    short_desc: 'match regular expression',
    long_desc: 'The expression (RE2) is found in the field.',
  },
  { id: 3, name: 'greater', short_desc: 'greater than', long_desc: 'The field is a number above this one.' },
  { id: 4, name: 'smaller', short_desc: 'smaller than', long_desc: 'The field is a number below this one.' },
  { id: 5, name: 'presence', short_desc: 'field presence', long_desc: 'The field is there and not blank.' },
  { id: 6, name: 'contains', short_desc: 'contain', long_desc: 'The field contains this text.' },
  { id: 7, name: 'always', short_desc: 'always match', long_desc: 'Every message.' },
  { id: 8, name: 'input', short_desc: 'match input', long_desc: 'The message came in by this receiver.' },
] as const;

export const streamRuleBody = Type.Object(
  {
    type: Type.Union([Type.Integer({ minimum: 1, maximum: 8 }), Type.Enum(ruleTypes.map(({ name }) => name))], {
      description: 'Number or name of the type; see /api/streams/{streamId}/rules/types.',
    }),
    field: Type.Optional(
      nullable(Type.String({ maxLength: 256, description: 'Field to compare; not for always and input.' })),
    ),
    value: Type.Optional(
      nullable(
        Type.Union([Type.String({ maxLength: 10_000 }), Type.Number()], {
          description: 'Text or number to compare with; not for presence and always.',
        }),
      ),
    ),
    inverted: Type.Optional(Type.Boolean({ description: 'The opposite.' })),
    description: Type.Optional(nullable(Type.String({ maxLength: 1_000 }))),
  },
  { description: 'One rule of a stream.' },
);
type StreamRuleBody = Static<typeof streamRuleBody>;

export const streamRuleAnswer = Type.Object(
  {
    id: Type.String(),
    stream_id: Type.String(),
    type: Type.Integer(),
    type_name: Type.String(),
    field: Type.String(),
    value: Type.String(),
    inverted: Type.Boolean(),
    description: Type.String(),
  },
  { description: 'One rule of a stream.' },
);

const condition = Type.Unsafe<Readonly<Record<string, unknown>>>({
  type: 'object',
  additionalProperties: true,
  description: 'A condition in the words of rule files; instead of rules.',
});

export const streamFields = {
  title: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Name shown to people.' })),
  description: Type.Optional(nullable(Type.String({ maxLength: 2_000 }))),
  rules: Type.Optional(nullable(Type.Array(streamRuleBody, { maxItems: 200 }))),
  when: Type.Optional(condition),
  matching_type: Type.Optional(
    nullable(Type.String({ description: 'AND (default) or OR: whether all or any of the rules must match.' })),
  ),
  remove_matches_from_default_stream: Type.Optional(
    Type.Boolean({ description: 'A message of this stream leaves All messages.' }),
  ),
  index_set_id: Type.Optional(nullable(objectId('Index set that stores the messages; default: sluice_default.'))),
  name: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9][a-z0-9_-]*$',
      maxLength: 100,
      description: 'Id in rule files, for those who want to choose it; default: made from the title.',
    }),
  ),
};
export const streamBody = Type.Object(
  { entity: Type.Optional(Type.Object(streamFields)), ...streamFields },
  { description: 'A stream; its members may also stand in entity.' },
);
export type StreamBody = Static<typeof streamBody>;

export const streamAnswer = Type.Object(
  {
    id: Type.String({ description: '24 hexadecimal characters.' }),
    ...originFields,
    title: Type.String(),
    description: Type.String(),
    disabled: Type.Boolean(),
    matching_type: Type.String(),
    rules: Type.Array(streamRuleAnswer),
    when: nullable(condition),
    outputs: Type.Array(Type.Object({ id: Type.String(), title: Type.String(), type: Type.String() })),
    content_pack: Type.Null(),
    is_default: Type.Boolean(),
    is_editable: Type.Boolean(),
    remove_matches_from_default_stream: Type.Boolean(),
    index_set_id: Type.String(),
    index_set: Type.String(),
    categories: Type.Array(Type.String()),
    favorite_fields: Type.Array(Type.String()),
  },
  { description: 'A stream.' },
);

/** `mayEdit`: whether who asks may. */
export function showStream(
  item: CatalogItem,
  outputs: readonly { readonly id: string; readonly title: string; readonly type: string }[],
  mayEdit: boolean,
): Static<typeof streamAnswer> {
  const { id, settings } = item;
  const indexSet = textOf(settings['index_set'], 'sluice_default');
  return {
    ...originOf(item),
    title: textOf(settings['title'], id),
    description: textOf(settings['description']),
    disabled: !flagOf(settings['enabled'], true),
    matching_type: textOf(settings['matching_type'], 'AND'),
    rules: showRules(id, rulesOf(item)),
    when: (settings['when'] as Readonly<Record<string, unknown>> | undefined) ?? null,
    outputs: [...outputs],
    content_pack: null,
    is_default: id === 'all-messages',
    is_editable: mayEdit && item.origin !== 'file',
    remove_matches_from_default_stream: flagOf(settings['remove_matches_from_default_stream']),
    index_set_id: apiIdOf(indexSet),
    index_set: indexSet,
    categories: [],
    favorite_fields: [],
  };
}

export const rulesOf = ({ settings }: CatalogItem): readonly StreamRule[] => listOf<StreamRule>(settings['rules']);

/** A rule has no name of its own: it is known by what it says, and by how many of the same stand before it. */
export function showRules(stream: string, rules: readonly StreamRule[]): Static<typeof streamRuleAnswer>[] {
  const seen = new Map<string, number>();
  return rules.map((rule) => {
    const text = JSON.stringify([rule.type, rule.field, rule.value, rule.inverted, rule.description]);
    const before = seen.get(text) ?? 0;
    seen.set(text, before + 1);
    return {
      id: createHash('sha256').update(`${stream} ${text} ${before}`).digest('hex').slice(0, 24),
      stream_id: apiIdOf(stream),
      type: ruleTypes.find(({ name }) => name === rule.type)?.id ?? 0,
      type_name: rule.type,
      field: rule.field ?? '',
      value: rule.value === undefined ? '' : String(rule.value),
      inverted: rule.inverted ?? false,
      description: rule.description ?? '',
    };
  });
}

export function takeRule({ type, field, value, inverted, description }: StreamRuleBody): StreamRule {
  const name = ruleTypes.find((one) => one.id === type || one.name === type)?.name;
  if (name === undefined) throw failure('API_REQUEST_REFUSED', `There is no stream rule of type ${String(type)}.`);
  return given({
    type: name,
    field: field === null || field === '' ? undefined : field,
    value: value === null || value === '' ? undefined : value,
    inverted: inverted === true ? true : undefined,
    description: description === null || description === '' ? undefined : description,
  }) as StreamRule;
}

/** What of a stream a body says, in the words of rule files. */
export function takeStream(body: StreamBody, indexSetOf: (name: string) => string): Record<string, unknown> {
  const {
    title,
    description,
    rules,
    when,
    matching_type: matchingType,
    remove_matches_from_default_stream: removes,
    index_set_id: indexSet,
  } = body.entity ?? body;
  return given({
    title,
    description: description ?? undefined,
    rules: when === undefined ? rules?.map(takeRule) : undefined,
    when,
    matching_type:
      when !== undefined || matchingType === undefined || matchingType === null
        ? undefined
        : matchingType === 'OR'
          ? 'OR'
          : 'AND',
    remove_matches_from_default_stream: removes,
    index_set: indexSet === undefined || indexSet === null || indexSet === '' ? undefined : indexSetOf(indexSet),
  });
}
