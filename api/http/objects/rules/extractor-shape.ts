/** Extractors of inputs as the API shows and takes them. */
import { Type, type Static } from 'typebox';
import type { StoredDefinition } from '../../../../definitions/contract.js';
import type { ExtractorSettings } from '../../../../definitions/graylog/contract.js';
import { listOf, nullable, textOf } from '../shapes.js';

type Settings = Readonly<Record<string, unknown>>;

const settings = Type.Unsafe<Settings>({
  type: 'object',
  additionalProperties: true,
  description: 'Settings by name.',
});
const text = (description: string) => Type.Optional(nullable(Type.String({ maxLength: 10_000, description })));

export const extractorBody = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 200 }),
    extractor_type: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'copy_input, grok, json, regex, regex_replace, split_and_index or substring.',
      }),
    ),
    type: text('The same, under the name that answers have.'),
    source_field: Type.String({ maxLength: 256 }),
    target_field: text('Field to write; not for grok and json.'),
    cut_or_copy: text('copy.'),
    cursor_strategy: text('The same, under the name that answers have.'),
    extractor_config: Type.Optional(nullable(settings)),
    converters: Type.Optional(
      nullable(
        Type.Union([settings, Type.Array(settings, { maxItems: 20 })], {
          description: 'By type, or a list of them with their types.',
        }),
      ),
    ),
    condition_type: text('none, string or regex.'),
    condition_value: text('What the source field must contain.'),
    order: Type.Optional(
      Type.Integer({ minimum: -1_000_000, maximum: 1_000_000, description: 'Smaller ones run first.' }),
    ),
  },
  { description: 'An extractor.' },
);
export type ExtractorBody = Static<typeof extractorBody>;

export const extractorAnswer = Type.Object(
  {
    id: Type.String(),
    title: Type.String(),
    type: Type.String(),
    cursor_strategy: Type.String(),
    source_field: Type.String(),
    target_field: Type.String(),
    extractor_config: settings,
    creator_user_id: Type.String(),
    converters: Type.Array(settings),
    condition_type: Type.String(),
    condition_value: Type.String(),
    order: Type.Integer(),
    when: settings,
    then: Type.Array(settings, { description: 'What it comes to, in the words of rule files.' }),
    in_force: Type.Boolean(),
  },
  { description: 'An extractor.' },
);

export function takeExtractor(input: string, body: ExtractorBody): ExtractorSettings {
  const { converters } = body;
  const list = Array.isArray(converters)
    ? converters
    : Object.entries(converters ?? {}).map(([type, config]) => ({ type, config }));
  return {
    input,
    type: (body.extractor_type ?? body.type ?? '').toLowerCase(),
    source: body.source_field,
    target: body.target_field ?? '',
    strategy: (body.cut_or_copy ?? body.cursor_strategy ?? 'copy').toLowerCase(),
    config: body.extractor_config ?? {},
    converters: list.map(({ type, config }) => ({
      type: textOf(type).toLowerCase(),
      config: (typeof config === 'object' && config !== null ? config : {}) as Settings,
    })),
    conditionType: (body.condition_type ?? 'none').toLowerCase(),
    conditionValue: body.condition_value ?? '',
  };
}

/** The settings as they are stored, beside the rule that they come to. */
export function storedExtractor({
  input,
  type,
  source,
  target,
  config,
  converters,
  conditionType,
  conditionValue,
}: ExtractorSettings): Settings {
  return {
    input,
    type,
    source_field: source,
    target_field: target,
    extractor_config: config,
    converters,
    condition_type: conditionType,
    condition_value: conditionValue,
  };
}

export function showExtractor(
  { id, definition, created_by: createdBy }: StoredDefinition,
  inForce: boolean,
): Static<typeof extractorAnswer> {
  const { order, extractor_config: config, when } = definition;
  return {
    id,
    title: textOf(definition['title']),
    type: textOf(definition['type']),
    cursor_strategy: 'copy',
    source_field: textOf(definition['source_field']),
    target_field: textOf(definition['target_field']),
    extractor_config: config as Settings,
    creator_user_id: createdBy,
    converters: [...listOf<Settings>(definition['converters'])],
    condition_type: textOf(definition['condition_type']),
    condition_value: textOf(definition['condition_value']),
    order: typeof order === 'number' ? order : 0,
    when: when as Settings,
    then: [...listOf<Settings>(definition['then'])],
    in_force: inForce,
  };
}
