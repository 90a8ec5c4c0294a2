/** Index sets of the rule files: sizes, durations, and names that do not run into each other. */
import { byteUnits } from '../../core/bytes.js';
import type { RuleFileIndexSet, RuleFileSize } from '../../schemas/rule-files.js';
import { namesCanMeet } from '../../schemas/index-names.js';
import type { IndexSetDefinition, RetentionSettings, RotationSettings } from '../../schemas/index-sets.js';
import type { Definition } from '../language/join.js';
import { shown, type Place } from '../problems.js';

export const defaultIndexSet = 'sluice_default';

const day = 86_400_000;
/** A set of an operator without `rotation` or `retention`. */
const fallbackRotation: RotationSettings = { type: 'size', max_bytes: 1e9 };
const fallbackRetention: RetentionSettings = { type: 'delete', max_indices: 4, max_total_bytes: undefined };

/** Bytes; undefined when the text is no size. */
export function parseSize(value: RuleFileSize): number | undefined {
  if (typeof value === 'number') return value;
  const match = /^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*$/.exec(value);
  const unit = byteUnits[match?.[2]?.toLowerCase() ?? ''];
  if (match === null || unit === undefined) return undefined;
  const bytes = Math.round(Number(match[1]) * unit);
  return bytes >= 1 && Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Milliseconds of an ISO 8601 duration; a month counts as 30 days, a year as 365. */
export function parsePeriod(text: string): number | undefined {
  const match = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(
    text.trim(),
  );
  if (match === null) return undefined;
  const weights = [365 * day, 30 * day, 7 * day, day, 3_600_000, 60_000, 1_000];
  const period = weights.reduce((sum, weight, place) => sum + weight * Number(match[place + 1] ?? 0), 0);
  return period > 0 && Number.isSafeInteger(period) ? period : undefined;
}

/** Rule files without any index set, the shipped ones included, still need a place for every message. */
const fallbackSet: IndexSetDefinition = {
  id: defaultIndexSet,
  title: 'Default index set',
  rotation: fallbackRotation,
  retention: fallbackRetention,
  shards: 1,
  replicas: 1,
  refresh_interval_ms: 5000,
};

export function buildIndexSets(definitions: readonly Definition<RuleFileIndexSet>[]): readonly IndexSetDefinition[] {
  if (definitions.length === 0) return [fallbackSet];
  for (const { id, placeOf } of definitions) {
    const longer = definitions.find((other) => namesCanMeet(id, other.id));
    if (longer !== undefined)
      placeOf('id').report(
        "The name of one index set may not begin another's followed by `_`: their indices could not be told apart.",
        { got: `${id} and ${longer.id}` },
      );
  }
  return definitions.map(({ id, settings, placeOf }) => ({
    id,
    title: settings.title ?? id,
    rotation: buildRotation(settings.rotation, placeOf('rotation')),
    retention: buildRetention(settings.retention, placeOf('retention')),
    shards: settings.shards ?? 1,
    replicas: settings.replicas ?? 1,
    refresh_interval_ms: settings.refresh_interval_ms ?? 5000,
  }));
}

const keyOfType = { size: 'max_size', count: 'max_documents', time: 'period' } as const;

function buildRotation(rotation: RuleFileIndexSet['rotation'], place: Place): RotationSettings {
  if (rotation === undefined) return fallbackRotation;
  const wanted = keyOfType[rotation.type];
  for (const key of Object.values(keyOfType)) {
    if (key !== wanted && rotation[key] !== undefined)
      place
        .at(key)
        .report(`Rotation by ${rotation.type} takes no \`${key}\`.`, { got: shown(rotation[key]), allowed: wanted });
  }
  if (rotation[wanted] === undefined) {
    place.report(`Rotation by ${rotation.type} needs \`${wanted}\`.`, { got: shown(rotation), allowed: wanted });
    return fallbackRotation;
  }
  if (rotation.type === 'size')
    return { type: 'size', max_bytes: sizeAt(rotation.max_size ?? 0, place.at('max_size')) };
  if (rotation.type === 'count') return { type: 'count', max_documents: rotation.max_documents ?? 1 };
  const period = parsePeriod(rotation.period ?? '');
  if (period === undefined)
    place
      .at('period')
      .report('This is no duration.', { got: shown(rotation.period), allowed: 'ISO 8601, for example PT1H, P1D, P1M' });
  return { type: 'time', period_ms: period ?? day };
}

function buildRetention(retention: RuleFileIndexSet['retention'], place: Place): RetentionSettings {
  if (retention === undefined) return fallbackRetention;
  const { type, max_indices: maxIndices, max_total_size: maxTotal } = retention;
  if (type !== 'none' && maxIndices === undefined && maxTotal === undefined) {
    place.report(`Retention \`${type}\` needs a bound.`, {
      got: shown(retention),
      allowed: 'max_indices, max_total_size, or both',
    });
  }
  return {
    type,
    max_indices: maxIndices,
    max_total_bytes: maxTotal === undefined ? undefined : sizeAt(maxTotal, place.at('max_total_size')),
  };
}

function sizeAt(value: RuleFileSize, place: Place): number {
  const bytes = parseSize(value);
  if (bytes === undefined)
    place.report('This is no size.', {
      got: shown(value),
      allowed: 'bytes, or a number with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB, for example 20 GB',
    });
  return bytes ?? 1e9;
}
