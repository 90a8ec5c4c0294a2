/** What data says about its own version, and what that means for this program. */
import type { SluiceError } from '../errors.js';
import { packageVersion } from '../process/package-root.js';
import { currentVersion, type FormatVersion } from './versions.js';
import { formatErrors } from './errors.js';

export interface FormatStamp {
  readonly format: number;
  /** The lowest version that a program must know to read this data. */
  readonly minimum_reader: number;
  /** The program that wrote the stamp, for people. */
  readonly written_by: string;
}

type FormatVerdict =
  /** Of this version, or of a newer one that this program may read and write. */
  | { readonly kind: 'fine' }
  | { readonly kind: 'older'; readonly from: number }
  | { readonly kind: 'refused'; readonly error: SluiceError };

export function stampOf(format: FormatVersion, version = currentVersion(format)): FormatStamp {
  const minimum = Math.max(
    0,
    ...format.versions.filter((step) => step.version <= version).map((step) => step.minimumReader),
  );
  return { format: version, minimum_reader: minimum, written_by: packageVersion };
}

/** Throws FORMAT_UNREADABLE for what is no stamp; undefined stays undefined. */
export function readStamp(value: unknown, place: string): FormatStamp | undefined {
  if (value === undefined || value === null) return undefined;
  const {
    format,
    minimum_reader: minimum,
    written_by: writer,
  } = (typeof value === 'object' ? value : {}) as Partial<Record<keyof FormatStamp, unknown>>;
  if (!isVersion(format) || !(minimum === undefined || isVersion(minimum)))
    throw formatErrors.create('FORMAT_UNREADABLE', { place, got: JSON.stringify(value).slice(0, 200) });
  return {
    format,
    minimum_reader: minimum ?? format,
    written_by: typeof writer === 'string' ? writer : 'an unknown version',
  };
}

const isVersion = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Without a stamp the data is of version 0: as it was before versions were written. */
export function judgeStamp(format: FormatVersion, stamp: FormatStamp | undefined, place: string): FormatVerdict {
  const current = currentVersion(format);
  const found = stamp?.format ?? 0;
  if (stamp !== undefined && stamp.minimum_reader > current)
    return { kind: 'refused', error: newerFormat(format, stamp, place) };
  if (found < format.oldest)
    return {
      kind: 'refused',
      error: formatErrors.create('FORMAT_TOO_OLD', {
        place,
        got: `${format.name} of ${versionText(stamp)}`,
        allowed: readable(format),
      }),
    };
  return found < current ? { kind: 'older', from: found } : { kind: 'fine' };
}

function newerFormat(format: FormatVersion, stamp: FormatStamp, place: string): SluiceError {
  return formatErrors.create('FORMAT_NEWER', {
    place,
    got: `${format.name} of ${versionText(stamp)}`,
    allowed: readable(format),
  });
}

/** Throws for a bare version number that this program does not read. */
export function assertVersion(format: FormatVersion, version: number, place: string): void {
  const verdict = judgeStamp(format, { format: version, minimum_reader: version, written_by: '' }, place);
  if (verdict.kind === 'refused') throw verdict.error;
}

function versionText(stamp: FormatStamp | undefined): string {
  if (stamp === undefined) return 'no version';
  const needs =
    stamp.minimum_reader === stamp.format ? '' : `, which needs a reader of version ${stamp.minimum_reader}`;
  return `version ${stamp.format}${needs}${stamp.written_by === '' ? '' : `, written by Sluice ${stamp.written_by}`}`;
}

function readable(format: FormatVersion): string {
  const current = currentVersion(format);
  return `${format.oldest === current ? `version ${current}` : `versions ${format.oldest} to ${current}`} (this is Sluice ${packageVersion})`;
}
