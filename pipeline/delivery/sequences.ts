/**
 * Rule 5: a resend keeps its partition, so a sequence not above the highest one seen of its run in this partition has
 * been taken before. The highest sequences belong to an offset: they advance only when a batch is done, and travel in
 * the commit's metadata, so that a redelivered batch is judged as it was the first time.
 */
import { at } from '../../core/at.js';
import { currentVersion, formatVersions } from '../../core/formats/versions.js';
import { assertVersion } from '../../core/formats/stamp.js';
import { prefixWidth, sequenceOf } from '../../core/message-ids.js';

/** Highest sequence by id prefix (`<run>-<partition>-`), least recently seen first. */
export type Sequences = ReadonlyMap<string, number>;

/** Kafka keeps 4,096 bytes of metadata; one run takes 37. */
export const maxRuns = 100;

export interface ResendCheck {
  /** Places in the batch that have been taken before. Empty in the normal case. */
  readonly resent: ReadonlySet<number>;
  /** The sequences after this batch. */
  readonly after: Sequences;
  /** Messages missing between two sequences of a run: never happens unless records were lost. */
  readonly missing: number;
  /** Runs forgotten because more than `maxRuns` are known; a resend of theirs would be stored twice. */
  readonly evicted: number;
}

const none: ReadonlySet<number> = new Set();

interface Keyed {
  readonly key: string;
  readonly idPrefix?: string | undefined;
  readonly idSequence?: number | undefined;
}

export function checkResends(records: readonly Keyed[], before: Sequences): ResendCheck {
  const after = new Map(before);
  let resent: Set<number> | undefined;
  let missing = 0;
  let prefix = '';
  let highest = -1;
  let known = false;
  for (let place = 0; place < records.length; place += 1) {
    const { key, idPrefix, idSequence } = at(records, place);
    const sequence = idSequence ?? sequenceOf(key);
    if (sequence === undefined) continue;
    if (idPrefix === undefined ? prefix === '' || !key.startsWith(prefix) : idPrefix !== prefix) {
      note(after, prefix, highest);
      prefix = idPrefix ?? key.slice(0, prefixWidth);
      highest = after.get(prefix) ?? -1;
      known = after.has(prefix);
    }
    if (sequence <= highest) {
      (resent ??= new Set()).add(place);
      continue;
    }
    if (known && sequence > highest + 1) missing += sequence - highest - 1;
    highest = sequence;
    known = true;
  }
  note(after, prefix, highest);
  let evicted = 0;
  for (const oldest of after.keys()) {
    if (after.size <= maxRuns) break;
    after.delete(oldest);
    evicted += 1;
  }
  return { resent: resent ?? none, after, missing, evicted };
}

/** As the latest one seen. Apart from the loop: variables that a function inside of it shares are slower to reach. */
function note(after: Map<string, number>, prefix: string, highest: number): void {
  if (prefix === '') return;
  after.delete(prefix);
  after.set(prefix, highest);
}

const version = String(currentVersion(formatVersions.commitMetadata));

export function encodeSequences(sequences: Sequences): string {
  return [version, ...[...sequences].map(([prefix, highest]) => prefix + highest.toString(16))].join(' ');
}

/**
 * Throws FORMAT_NEWER: sequences that cannot be read are not the same as none. A text without a version (another
 * program's commit) knows none.
 */
export function decodeSequences(metadata: string): Sequences {
  const [first, ...parts] = metadata.split(' ');
  const sequences = new Map<string, number>();
  if (first === undefined || !/^\d{1,9}$/.test(first)) return sequences;
  assertVersion(formatVersions.commitMetadata, Number(first), 'metadata of the committed offset');
  for (const part of parts) {
    const highest = Number.parseInt(part.slice(prefixWidth), 16);
    if (part.length > prefixWidth && Number.isSafeInteger(highest)) sequences.set(part.slice(0, prefixWidth), highest);
  }
  return sequences;
}
