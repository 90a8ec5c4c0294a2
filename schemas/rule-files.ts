/** The shape of a rule file. The schemas of conditions and actions come from their registries in `rules/`. */
import { Type, type Static, type TSchema } from 'typebox';
import { grantableCapabilities } from './access.js';
import { outputFormats } from './outputs/formats.js';
import { outputSchemaOf } from './outputs/output.js';

const closed = { additionalProperties: false } as const;
/** Kebab-case, as in design section 11; also part of metric labels and API answers. */
const id = (description: string) => Type.String({ description, pattern: '^[a-z0-9][a-z0-9_-]*$', maxLength: 100 });
const condition = Type.Unsafe<Readonly<Record<string, unknown>>>({ $ref: '#/$defs/condition' });
const action = Type.Unsafe<Readonly<Record<string, unknown>>>({ $ref: '#/$defs/action' });

const ruleSchema = Type.Object(
  {
    id: id(
      'Name of the rule; a rule of the same id in a later file changes the settings it names and keeps its place.',
    ),
    description: Type.Optional(Type.String({ description: 'What the rule is for.' })),
    enabled: Type.Optional(Type.Boolean({ description: 'A rule that is not enabled does nothing.', default: true })),
    when: Type.Optional(condition),
    then: Type.Optional(Type.Array(action, { description: 'Actions, in order.', minItems: 1 })),
  },
  { ...closed, description: 'When the condition holds, the actions are done.' },
);

const streamRuleTypes = ['exact', 'regex', 'greater', 'smaller', 'presence', 'contains', 'always', 'input'] as const;

const streamRuleSchema = Type.Object(
  {
    type: Type.Enum([...streamRuleTypes], { description: 'How the field is compared.' }),
    field: Type.Optional(Type.String({ description: 'Field to compare; not for always and input.', minLength: 1 })),
    value: Type.Optional(
      Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
        description: 'Text or number to compare with; not for presence and always.',
      }),
    ),
    inverted: Type.Optional(
      Type.Boolean({
        description: 'The opposite. greater and smaller never match a missing or non-numeric field, inverted or not.',
        default: false,
      }),
    ),
    description: Type.Optional(Type.String({ description: 'What the rule is for.' })),
  },
  { ...closed, description: 'A rule of a stream, as the API knows it.' },
);

const streamSchema = Type.Object(
  {
    id: id('Name of the stream.'),
    title: Type.Optional(Type.String({ description: 'Name shown to people; default: the id.', minLength: 1 })),
    description: Type.Optional(Type.String({ description: 'What the stream holds.' })),
    index_set: Type.Optional(
      Type.String({ description: 'Index set that stores the messages; default: sluice_default.' }),
    ),
    remove_matches_from_default_stream: Type.Optional(
      Type.Boolean({ description: 'A message of this stream leaves All messages.', default: false }),
    ),
    only_within_default_stream: Type.Optional(
      Type.Boolean({ description: 'A message that left All messages leaves this stream too.', default: false }),
    ),
    enabled: Type.Optional(Type.Boolean({ description: 'A stream that is not enabled holds nothing.', default: true })),
    outputs: Type.Optional(Type.Array(Type.String(), { description: 'Outputs that its messages are sent to.' })),
    when: Type.Optional(condition),
    rules: Type.Optional(Type.Array(streamRuleSchema, { description: 'Instead of `when`.' })),
    matching_type: Type.Optional(
      Type.Enum(['AND', 'OR'], {
        description: 'Whether all or any of `rules` must match. A stream without rules never matches.',
        default: 'AND',
      }),
    ),
  },
  {
    ...closed,
    description: 'A named part of the messages. Without `when` and `rules` only the action route fills it.',
  },
);

const size = (description: string) =>
  Type.Union([Type.Integer({ minimum: 1 }), Type.String({ minLength: 1 })], {
    description: `${description} Bytes, or a number with B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024).`,
  });

const indexSetSchema = Type.Object(
  {
    id: Type.String({
      description: 'Name of the index set; prefix of its indices and their read alias.',
      pattern: '^[a-z][a-z0-9_-]*[a-z0-9]$',
      maxLength: 100,
    }),
    title: Type.Optional(Type.String({ description: 'Name shown to people; default: the id.', minLength: 1 })),
    description: Type.Optional(Type.String({ description: 'What the index set is for.' })),
    rotation: Type.Optional(
      Type.Object(
        {
          type: Type.Enum(['size', 'count', 'time'], { description: 'What closes an index and begins the next.' }),
          max_size: Type.Optional(size('type size: largest index.')),
          max_documents: Type.Optional(
            Type.Integer({ description: 'type count: most documents of an index.', minimum: 1 }),
          ),
          period: Type.Optional(
            Type.String({
              description:
                'type time: ISO 8601 duration such as PT1H, P1D, P1M (a month counts as 30 days, a year as 365).',
            }),
          ),
        },
        { ...closed, description: 'When the next index begins; default: by size, 1 GB.' },
      ),
    ),
    retention: Type.Optional(
      Type.Object(
        {
          type: Type.Enum(['delete', 'close', 'none'], { description: 'What happens to the oldest indices.' }),
          max_indices: Type.Optional(Type.Integer({ description: 'Most indices that are kept.', minimum: 1 })),
          max_total_size: Type.Optional(size('All indices together.')),
        },
        { ...closed, description: 'What becomes of old indices; default: delete, 4 indices.' },
      ),
    ),
    shards: Type.Optional(
      Type.Integer({ description: 'Shards of an index (OpenSearch).', minimum: 1, maximum: 1024, default: 1 }),
    ),
    replicas: Type.Optional(
      Type.Integer({ description: 'Replicas of an index (OpenSearch).', minimum: 0, maximum: 100, default: 1 }),
    ),
    refresh_interval_ms: Type.Optional(
      Type.Integer({
        description:
          'How long a stored message may stay invisible to searches; shorter costs the engine more for each document. In milliseconds.',
        minimum: 100,
        default: 5000,
      }),
    ),
  },
  { ...closed, description: 'Where messages are stored, when its indices rotate and how long they are kept.' },
);

const pattern = {
  id: id('Name of the pattern; the same id in a later file changes it.'),
  title: Type.Optional(Type.String({ description: 'What it finds.' })),
  pattern: Type.Optional(Type.String({ description: 'Regular expression, RE2 syntax.', minLength: 1 })),
  enabled: Type.Optional(Type.Boolean({ description: 'A pattern that is not enabled finds nothing.', default: true })),
};

const obfuscationSchema = Type.Object(
  {
    enabled: Type.Optional(
      Type.Boolean({
        description: 'Replace sensitive text after routing, before storage and outputs.',
        default: false,
      }),
    ),
    fields: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { description: 'Fields that are searched.' })),
    streams: Type.Optional(Type.Array(Type.String(), { description: 'Messages of these streams are searched.' })),
    replacement: Type.Optional(Type.String({ description: 'What stands in place of sensitive text.' })),
    patterns: Type.Optional(
      Type.Array(
        Type.Object(
          {
            ...pattern,
            importance: Type.Optional(
              Type.Number({
                description:
                  'Of two matches that overlap in part, the more important one is replaced; equal ones are joined.',
                default: 1,
              }),
            ),
          },
          closed,
        ),
        { description: 'What is sensitive.' },
      ),
    ),
    white_patterns: Type.Optional(
      Type.Array(Type.Object(pattern, closed), {
        description: 'A match that one of these matches as a whole is not sensitive.',
      }),
    ),
  },
  { ...closed, description: 'Anonymising of sensitive text.' },
);

const streamIds = (description: string) => Type.Array(Type.String({ minLength: 1 }), { description });

const roleSchema = Type.Object(
  {
    id: Type.String({
      description:
        'Name of the role, as users and mappings of a directory name it, in any case; the same name in a later file changes the settings it names.',
      minLength: 1,
      maxLength: 100,
    }),
    description: Type.Optional(Type.String({ description: 'What the role is for.', maxLength: 1_000 })),
    read: Type.Optional(
      Type.Union([Type.Literal('all'), streamIds('Ids of streams.')], {
        description:
          'Streams whose messages may be read: their ids, or all (every stream but Audit logs, also those that come later).',
      }),
    ),
    edit: Type.Optional(streamIds('Streams that may be changed, and read.')),
    capabilities: Type.Optional(
      Type.Array(Type.Enum([...grantableCapabilities]), {
        description: 'What may be done beside that; see docs/reference/roles.md.',
      }),
    ),
  },
  { ...closed, description: 'What users may do who are members of it.' },
);

const lists = {
  rules: Type.Optional(
    Type.Array(ruleSchema, {
      description: 'All rules run, in file-name order and position, each seeing what the ones before changed.',
    }),
  ),
  streams: Type.Optional(Type.Array(streamSchema, { description: 'Streams.' })),
  index_sets: Type.Optional(Type.Array(indexSetSchema, { description: 'Index sets.' })),
  outputs: Type.Optional(
    Type.Array(outputSchemaOf(outputFormats), {
      description: 'Destinations outside that messages of streams are forwarded to.',
    }),
  ),
  roles: Type.Optional(
    Type.Array(roleSchema, {
      description: 'Roles of users. They can be given through the API, and are changed in their file.',
    }),
  ),
  obfuscation: Type.Optional(obfuscationSchema),
};

interface OperatorSchemas {
  /** Schema of the value behind the key, by key of a condition or action. */
  readonly conditions: Readonly<Record<string, TSchema>>;
  readonly actions: Readonly<Record<string, TSchema>>;
}

/** One JSON Schema for a whole file. */
export function ruleFileSchema(operators: OperatorSchemas): TSchema {
  return Type.Object(lists, {
    ...closed,
    title: 'Sluice rule file',
    $defs: {
      condition: Type.Object(
        {
          field: Type.Optional(Type.String({ description: 'Field that the condition looks at.', minLength: 1 })),
          ignore_case: Type.Optional(
            Type.Boolean({ description: 'Upper and lower case are the same.', default: false }),
          ),
          ...optionalOf(operators.conditions),
        },
        { ...closed, minProperties: 1, description: 'One condition; see docs/reference/rules.md.' },
      ),
      action: Type.Object(optionalOf(operators.actions), {
        ...closed,
        minProperties: 1,
        maxProperties: 1,
        description: 'One action; see docs/reference/rules.md.',
      }),
    },
  });
}

function optionalOf(schemas: Readonly<Record<string, TSchema>>): Record<string, TSchema> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, Type.Optional(schema)]));
}

export type RuleFileRule = Static<typeof ruleSchema>;
export type RuleFileStream = Static<typeof streamSchema>;
export type RuleFileStreamRule = Static<typeof streamRuleSchema>;
export type RuleFileIndexSet = Static<typeof indexSetSchema>;
export type RuleFileRole = Static<typeof roleSchema>;
export type RuleFileObfuscation = Static<typeof obfuscationSchema>;
export type RuleFileSize = number | string;
