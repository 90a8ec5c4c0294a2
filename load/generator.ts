/**
 * Writes messages into buffers fast: templates are serialised once, a message is a copy with its numbers patched in.
 * Every message begins with `{"version":"1.1","_load_run":"<run>","_load_connection":<6>,"_load_sequence":<10>,` where
 * numbers are right-aligned with spaces, which JSON allows, so that the verification finds them at fixed places.
 */
import { at } from '../core/at.js';
import { families, fillWords, type Fields } from './families.js';
import { createRandom, hash, type Random } from './random.js';

const templateCount = 512;
const connectionWidth = 6;
const sequenceWidth = 10;
const idDigits = 16;
export const maxConnections = 10 ** connectionWidth - 1;

interface GeneratorOptions {
  readonly seed: number;
  /** 8 hexadecimal digits: which run a message belongs to. */
  readonly run: string;
  /** Average size of a message. */
  readonly bytes: number;
}

interface SentSoFar {
  readonly connection: number;
  /** Messages of the connection. */
  readonly sent: number;
}

export interface Generator {
  readonly averageBytes: number;
  readonly largestBytes: number;
  /**
   * Writes the next message of a connection at `offset` and returns the position behind it. The connection and how many
   * it has sent decide all but run and time.
   */
  write(target: Buffer, offset: number, from: SentSoFar, nowMs: number): number;
}

interface Template {
  readonly bytes: Buffer;
  readonly timeAt: number;
  /** Places of the digits of `%id%`. */
  readonly ids: readonly number[];
}

function headText(run: string): string {
  return `{"version":"1.1","_load_run":"${run}","_load_connection":`;
}
const betweenText = ',"_load_sequence":';

export function createGenerator(options: GeneratorOptions): Generator {
  const templates = buildTemplates(options);
  const connectionEnd = headText(options.run).length + connectionWidth;
  const sequenceEnd = connectionEnd + betweenText.length + sequenceWidth;
  return {
    averageBytes: templates.reduce((sum, template) => sum + template.bytes.length, 0) / templates.length,
    largestBytes: Math.max(...templates.map((template) => template.bytes.length)),
    write(target, offset, { connection, sent: sequence }, nowMs) {
      const random = hash(options.seed ^ connection, sequence);
      const template = at(templates, random % templateCount);
      target.set(template.bytes, offset);
      writeDigits(target, offset + connectionEnd, connection);
      writeDigits(target, offset + sequenceEnd, sequence);
      const timeEnd = offset + template.timeAt + 14;
      const seconds = Math.floor(nowMs / 1000);
      writeDigits(target, timeEnd - 4, seconds);
      writePadded(target, timeEnd, nowMs - seconds * 1000, 3);
      for (const index of template.ids) writeHex(target, offset + index, random, sequence);
      return offset + template.bytes.length;
    },
  };
}

/** Kinds in their shares, each filled up so that the average comes out. */
function buildTemplates(options: GeneratorOptions): Template[] {
  const random = createRandom(options.seed);
  const drafts = families.flatMap((family) =>
    Array.from({ length: Math.round((family.share * templateCount) / 100) }, () => ({
      family,
      fields: family.build(random),
    })),
  );
  while (drafts.length < templateCount) drafts.push({ family: at(families, 0), fields: at(families, 0).build(random) });
  drafts.length = templateCount;
  const sizes = drafts.map(({ fields }) => serialise(options.run, fields).length);
  // The factor on the wanted sizes at which the average of what can only grow is the one asked for.
  let [low, high] = [0, 4];
  for (let round = 0; round < 40; round += 1) {
    const factor = (low + high) / 2;
    const average =
      drafts.reduce(
        (sum, { family }, index) => sum + Math.max(sizes[index] ?? 0, options.bytes * family.size * factor),
        0,
      ) / drafts.length;
    if (average < options.bytes) low = factor;
    else high = factor;
  }
  return shuffled(random, drafts).map(({ family, fields }) => {
    const missing = Math.round(options.bytes * family.size * low) - serialise(options.run, fields).length;
    return template(
      serialise(options.run, {
        ...fields,
        [family.grows]: `${String(fields[family.grows])}${fillWords(random, missing)}`,
      }),
    );
  });
}

function shuffled<Item>(random: Random, items: readonly Item[]): Item[] {
  const result = [...items];
  for (let index = result.length - 1; index > 0; index -= 1) {
    const other = random() % (index + 1);
    [result[index], result[other]] = [at(result, other), at(result, index)];
  }
  return result;
}

function serialise(run: string, fields: Fields): string {
  const rest = JSON.stringify({ timestamp: 1_700_000_000.125, ...fields })
    .slice(1)
    .replace('1700000000.125', '0000000000.000');
  return `${headText(run)}${' '.repeat(connectionWidth)}${betweenText}${' '.repeat(sequenceWidth)},${rest}`.replaceAll(
    '%id%',
    '0'.repeat(idDigits),
  );
}

function template(text: string): Template {
  const ids: number[] = [];
  for (
    let index = text.indexOf('0'.repeat(idDigits));
    index >= 0;
    index = text.indexOf('0'.repeat(idDigits), index + idDigits)
  )
    ids.push(index);
  return { bytes: Buffer.from(text, 'latin1'), timeAt: text.indexOf('0000000000.000'), ids };
}

function writeDigits(target: Buffer, end: number, value: number): void {
  let rest = value;
  let index = end;
  do {
    index -= 1;
    const next = Math.floor(rest / 10);
    target[index] = 48 + (rest - next * 10);
    rest = next;
  } while (rest > 0);
}

function writePadded(target: Buffer, end: number, value: number, width: number): void {
  writeDigits(target, end, value);
  if (value < 10) target[end - 2] = 48;
  if (value < 100) target[end - width] = 48;
}

const hexDigits = Buffer.from('0123456789abcdef');
function writeHex(target: Buffer, offset: number, high: number, low: number): void {
  let first = high;
  let second = hash(high, low);
  for (let index = 7; index >= 0; index -= 1) {
    target[offset + index] = at(hexDigits, first & 15);
    target[offset + 8 + index] = at(hexDigits, second & 15);
    first >>>= 4;
    second >>>= 4;
  }
}

/** Connection and sequence of a message of this run; undefined for every other. */
export function createReader(
  run: string,
): (value: Buffer) => { readonly connection: number; readonly sequence: number } | undefined {
  const head = Buffer.from(headText(run), 'latin1');
  const sequenceAt = head.length + connectionWidth + betweenText.length;
  return (value) => {
    if (value.length < sequenceAt + sequenceWidth || head.compare(value, 0, head.length) !== 0) return undefined;
    return {
      connection: readDigits(value, head.length, connectionWidth),
      sequence: readDigits(value, sequenceAt, sequenceWidth),
    };
  };
}

function readDigits(value: Buffer, index: number, width: number): number {
  let number = 0;
  for (let end = index + width, place = index; place < end; place += 1) {
    const digit = at(value, place);
    if (digit !== 32) number = number * 10 + digit - 48;
  }
  return number;
}
