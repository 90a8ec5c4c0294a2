/** Index sets as the API shows and takes them: rotation and retention as strategies with their settings. */
import { Type, type Static } from 'typebox';
import type { CatalogItem } from '../../../../definitions/contract.js';
import type { RuleSet } from '../../../../rules/contract.js';
import { invalidMembers } from '../../failure.js';
import { given, nullable, originFields, originOf, textOf } from '../shapes.js';

type IndexSet = RuleSet['indexSets'][number];

const size = (description: string) =>
  Type.Union([Type.Integer({ minimum: 1 }), Type.String({ minLength: 1, maxLength: 40 })], {
    description: `${description} Bytes, or a number with B, kB, MB, GB, TB, KiB, MiB, GiB, TiB.`,
  });
const strategyName = Type.String({
  maxLength: 200,
  description: 'Any name that says size, count or time; delete, close or none (noop).',
});
const rotationBody = Type.Object(
  {
    type: Type.Optional(strategyName),
    max_size: Type.Optional(size('By size: largest index.')),
    max_docs_per_index: Type.Optional(
      Type.Integer({ minimum: 1, description: 'By count: most messages of an index.' }),
    ),
    rotation_period: Type.Optional(
      Type.String({ maxLength: 60, description: 'By time: ISO 8601 duration such as P1D.' }),
    ),
  },
  { description: 'When the next index begins.' },
);
const retentionBody = Type.Object(
  {
    type: Type.Optional(strategyName),
    max_number_of_indices: Type.Optional(Type.Integer({ minimum: 1 })),
    max_total_size: Type.Optional(size('All indices together.')),
  },
  { description: 'What becomes of old indices.' },
);

export const indexSetBody = Type.Object(
  {
    title: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    description: Type.Optional(nullable(Type.String({ maxLength: 2_000, description: 'What it is for.' }))),
    index_prefix: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'Name of the set, and beginning of the names of its indices; never changes.',
      }),
    ),
    shards: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_024 })),
    replicas: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
    rotation_strategy_class: Type.Optional(nullable(strategyName)),
    rotation_strategy: Type.Optional(nullable(rotationBody)),
    retention_strategy_class: Type.Optional(nullable(strategyName)),
    retention_strategy: Type.Optional(nullable(retentionBody)),
    refresh_interval_ms: Type.Optional(Type.Integer({ minimum: 100, maximum: 3_600_000 })),
  },
  { description: 'An index set.' },
);
type IndexSetBody = Static<typeof indexSetBody>;

export const statsAnswer = Type.Object({
  indices: Type.Integer(),
  documents: Type.Integer({ description: 'Of those that the asker may read.' }),
  size: nullable(Type.Integer({ description: 'Bytes; null for who may not read every message.' })),
});

export const indexSetAnswer = Type.Object(
  {
    id: Type.String(),
    ...originFields,
    title: Type.String(),
    description: Type.String(),
    index_prefix: Type.String(),
    shards: Type.Integer(),
    replicas: Type.Integer(),
    refresh_interval_ms: Type.Integer(),
    rotation_strategy_class: Type.String(),
    rotation_strategy: Type.Object({
      type: Type.String(),
      max_size: Type.Optional(Type.Integer()),
      max_docs_per_index: Type.Optional(Type.Integer()),
      rotation_period: Type.Optional(Type.String()),
      rotation_period_ms: Type.Optional(Type.Integer()),
    }),
    retention_strategy_class: Type.String(),
    retention_strategy: Type.Object({
      type: Type.String(),
      max_number_of_indices: Type.Optional(Type.Integer()),
      max_total_size: Type.Optional(Type.Integer()),
    }),
    writable: Type.Boolean(),
    default: Type.Boolean(),
    can_be_default: Type.Boolean(),
    is_editable: Type.Boolean(),
    creation_date: nullable(Type.String()),
  },
  { description: 'An index set.' },
);

/** `inForce`: the set as the rules have it, with every default; undefined: it is left out. */
export function showIndexSet(
  item: CatalogItem,
  inForce: IndexSet | undefined,
  mayEdit: boolean,
): Static<typeof indexSetAnswer> {
  const rotation = inForce?.rotation ?? { type: 'size' as const, max_bytes: 0 };
  const retention = inForce?.retention ?? { type: 'none' as const, max_indices: undefined, max_total_bytes: undefined };
  const period = (item.settings['rotation'] as { readonly period?: string } | undefined)?.period;
  return {
    ...originOf(item),
    title: textOf(item.settings['title'], item.id),
    description: textOf(item.settings['description']),
    index_prefix: item.id,
    shards: inForce?.shards ?? 1,
    replicas: inForce?.replicas ?? 0,
    refresh_interval_ms: inForce?.refresh_interval_ms ?? 0,
    rotation_strategy_class: rotation.type,
    rotation_strategy: {
      type: rotation.type,
      ...(rotation.type === 'size' ? { max_size: rotation.max_bytes } : {}),
      ...(rotation.type === 'count' ? { max_docs_per_index: rotation.max_documents } : {}),
      ...(rotation.type === 'time' ? { rotation_period: period ?? '', rotation_period_ms: rotation.period_ms } : {}),
    },
    retention_strategy_class: retention.type,
    retention_strategy: {
      type: retention.type,
      ...(retention.max_indices === undefined ? {} : { max_number_of_indices: retention.max_indices }),
      ...(retention.max_total_bytes === undefined ? {} : { max_total_size: retention.max_total_bytes }),
    },
    writable: true,
    default: item.id === 'sluice_default',
    can_be_default: item.id === 'sluice_default',
    is_editable: mayEdit && item.origin !== 'file',
    creation_date: item.stored?.created_at ?? null,
  };
}

/** What a body says, in the words of rule files; the prefix apart. */
export function takeIndexSet(body: IndexSetBody): Record<string, unknown> {
  return given({
    title: body.title,
    description: body.description === null ? '' : body.description,
    shards: body.shards,
    replicas: body.replicas,
    refresh_interval_ms: body.refresh_interval_ms,
    rotation: takeRotation(body),
    retention: takeRetention(body),
  });
}

function takeRotation({
  rotation_strategy_class: name,
  rotation_strategy: strategy,
}: IndexSetBody): object | undefined {
  if ((strategy === undefined || strategy === null) && (name === undefined || name === null)) return undefined;
  const { type: typeText, max_size: maxSize, max_docs_per_index: documents, rotation_period: period } = strategy ?? {};
  const byKey =
    maxSize !== undefined ? 'size' : documents !== undefined ? 'count' : period !== undefined ? 'time' : undefined;
  const type =
    byKey ??
    wordIn(`${name ?? ''} ${typeText ?? ''}`, [
      ['size', /size/i],
      ['count', /count/i],
      ['time', /time/i],
    ]);
  if (type === undefined) throw invalidMembers({ rotation_strategy: ['It says neither size, count nor time.'] });
  return given({ type, max_size: maxSize, max_documents: documents, period });
}

function takeRetention({
  retention_strategy_class: name,
  retention_strategy: strategy,
}: IndexSetBody): object | undefined {
  if ((strategy === undefined || strategy === null) && (name === undefined || name === null)) return undefined;
  const { type: typeText, max_number_of_indices: indices, max_total_size: total } = strategy ?? {};
  const type =
    wordIn(`${name ?? ''} ${typeText ?? ''}`, [
      ['delete', /delet/i],
      ['close', /clos/i],
      ['none', /none|noop|nothing/i],
    ]) ?? (name === undefined && typeText === undefined ? 'delete' : undefined);
  if (type === undefined) throw invalidMembers({ retention_strategy: ['It says neither delete, close nor none.'] });
  return type === 'none' ? { type } : given({ type, max_indices: indices, max_total_size: total });
}

function wordIn(text: string, words: readonly (readonly [string, RegExp])[]): string | undefined {
  return words.find(([, pattern]) => pattern.test(text))?.[0];
}
