/**
 * Message ids: `<run>-<partition>-<sequence>`, fixed-width hexadecimal. The run is the start of the receiver process in
 * milliseconds (12 digits) and 32 random bits (8 digits); the sequence has no gaps within a run and partition. Ids sort
 * by time within both.
 */
import { randomBytes } from 'node:crypto';

const runWidth = 20;
const partitionWidth = 4;
const sequenceWidth = 10;
/** `<run>-<partition>-`, the part that a run's ids of one partition share. */
export const prefixWidth = runWidth + 1 + partitionWidth + 1;
export const idWidth = prefixWidth + sequenceWidth;

const hex = (value: number, width: number): string => value.toString(16).padStart(width, '0');

export function createRun(now: number, random: Buffer = randomBytes(4)): string {
  return hex(now, 12) + random.toString('hex').slice(0, 8);
}

export function idPrefix(run: string, partition: number): string {
  return `${run}-${hex(partition, partitionWidth)}-`;
}

export function mintId(prefix: string, sequence: number): string {
  return prefix + hex(sequence, sequenceWidth);
}

/**
 * The sequence of an id of the receiver's form; undefined for any other key (a dead letter's, a foreign producer's).
 */
export function sequenceOf(id: string): number | undefined {
  if (id.length !== idWidth || id.charCodeAt(runWidth) !== 45 || id.charCodeAt(prefixWidth - 1) !== 45)
    return undefined;
  let sequence = 0;
  for (let place = prefixWidth; place < idWidth; place += 1) {
    const digit = digitOf(id.charCodeAt(place));
    if (digit < 0) return undefined;
    sequence = sequence * 16 + digit;
  }
  return sequence;
}

/** The same of an id's bytes, which begin at `start`. */
export function sequenceIn(bytes: Uint8Array, start: number): number | undefined {
  if (bytes[start + runWidth] !== 45 || bytes[start + prefixWidth - 1] !== 45) return undefined;
  let sequence = 0;
  for (let place = start + prefixWidth; place < start + idWidth; place += 1) {
    const digit = digitOf(bytes[place] ?? 0);
    if (digit < 0) return undefined;
    sequence = sequence * 16 + digit;
  }
  return sequence;
}

const digits = Int8Array.from({ length: 128 }, (_, code) => '0123456789abcdef'.indexOf(String.fromCharCode(code)));

/** Of a hexadecimal digit as ids have them, in lower case; -1 for any other character. */
function digitOf(code: number): number {
  return digits[code] ?? -1;
}

/**
 * Id of a document among the dead letters: the refused message and the index set that refused it, without the reason
 * (rule 10).
 */
export function deadLetterId(messageId: string, indexSet: string): string {
  return `${messageId}@${indexSet}`;
}
