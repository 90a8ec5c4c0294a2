/** Converters of extractors: what is done with a value before it is written. */
import { invalid } from '../../check.js';
import type { Settings } from '../../stored.js';
import type { Converter } from '../contract.js';

/** Moves what stands in `from` to the target field. */
export function converted(converters: readonly Converter[], from: string, target: string): readonly Settings[] {
  if (converters.length > 1)
    throw invalid([
      {
        field: 'converters',
        message: `One converter is supported; got ${converters.map(({ type }) => type).join(', ')}.`,
      },
    ]);
  const [converter] = converters;
  if (converter === undefined) return [{ copy: { from, to: target } }];
  switch (converter.type) {
    case 'numeric':
      return [{ convert: { field: from, to: 'number' } }, { copy: { from, to: target } }];
    case 'date':
      return [{ date: { field: from, to: target, ...dateOptions(converter.config) } }];
    case 'flexdate':
      return [{ date: { field: from, to: target, formats: ['iso8601'], ...zoneOf(converter.config) } }];
    default:
      throw invalid([
        {
          field: 'converters',
          message: `The converter ${converter.type} is not supported. Supported: numeric, date, flexdate (ISO 8601 only).`,
        },
      ]);
  }
}

function zoneOf({ time_zone: zone }: Settings): Settings {
  return typeof zone === 'string' && zone !== '' ? { timezone: zone } : {};
}

function dateOptions(config: Settings): Settings {
  const { date_format: format, locale } = config;
  if (typeof format !== 'string' || format.trim() === '')
    throw invalid([{ field: 'converters', message: 'The converter date needs `date_format`.' }]);
  if (typeof locale === 'string' && locale !== '' && !locale.toLowerCase().startsWith('en'))
    throw invalid([
      { field: 'converters', message: `Names of months are read in English only; got the locale ${locale}.` },
    ]);
  return { formats: [format], ...zoneOf(config) };
}
