/**
 * Rows for an appender, chunk by chunk. The library stores text by text, one call into the engine each; here all texts
 * of a column go over in one call, and each row refers to its part of them.
 */
import duckdb, { type Vector } from '@duckdb/node-bindings';
import {
  BLOB,
  BOOLEAN,
  DOUBLE,
  INTEGER,
  VARCHAR,
  DuckDBDataChunk,
  type DuckDBAppender,
  type DuckDBType,
} from '@duckdb/node-api';
import type { Cell } from './batch.js';

/** Rows of one chunk, fixed by the engine. */
const chunkRows = 2048;
/**
 * Columns of the chunks that are kept for the next rows of the same types, 32 KiB each. A chunk's memory is the
 * engine's and is given back when its JavaScript object is collected, which that memory does not hasten: with a new
 * chunk for each append it grew by hundreds of megabytes.
 */
const maxReusedColumns = 1024;
/**
 * UTF-16 units of one column of a chunk that go over in one call; a column with more goes text by text, so that the
 * buffer stays small.
 */
const maxJoinedLength = 32 * 2 ** 20;
/** A buffer up to this size is kept for the next column. */
const reusedTextBytes = 8 * 2 ** 20;
/**
 * A text as the engine's vectors hold it (`string_t`, 16 bytes, little endian): its length in 4 bytes; then, up to 12
 * bytes, itself and zeros; or else its first 4 bytes and the address of all of it, valid as long as the vector.
 */
const textBytes = 16;
const inlinedBytes = 12;
const prefixBytes = 4;

const encoder = new TextEncoder();
const rowWords = new Uint32Array((chunkRows * textBytes) / 4);
const rowBytes = new Uint8Array(rowWords.buffer);
const numbers = new Float64Array(chunkRows);
const integers = new Int32Array(chunkRows);
const booleans = new Uint8Array(chunkRows);
const validity = new Uint32Array(chunkRows / 32);
let reusedText = Buffer.allocUnsafeSlow(2 ** 20);
/** By the types of their columns; the one used last is the last one. */
const reusedChunks = new Map<string, DuckDBDataChunk>();

/** Byte strings one after the other: where each ends; one without any is missing. */
interface BytesColumn {
  readonly bytes: Uint8Array;
  readonly ends: Uint32Array;
}

interface WordColumns {
  readonly hashes: readonly number[];
  readonly words: readonly string[];
  readonly postings: BytesColumn;
}

export const maxWordRows = chunkRows;
const wordTypes = [INTEGER, VARCHAR, BLOB];

/** At most `maxWordRows` of them. */
export function appendWords(appender: DuckDBAppender, { hashes, words, postings }: WordColumns): void {
  const chunk = chunkOf(wordTypes);
  chunk.reset();
  chunk.rowCount = words.length;
  fillVector(duckdb.data_chunk_get_vector(chunk.chunk, 0), INTEGER, hashes);
  fillVector(duckdb.data_chunk_get_vector(chunk.chunk, 1), VARCHAR, words);
  fillBytes(duckdb.data_chunk_get_vector(chunk.chunk, 2), postings);
  appender.appendDataChunk(chunk);
  chunk.reset();
}

function fillBytes(vector: Vector, { bytes, ends }: BytesColumn): void {
  const missing = markMissing(Array.from(ends, (end, row) => (end === (ends[row - 1] ?? 0) ? null : true)));
  if (missing < ends.length) {
    const base = storeText(vector, bytes);
    for (let row = 0, at = 0; row < ends.length; row += 1) {
      const length = (ends[row] ?? 0) - at;
      writeText(row, bytes, at, length);
      if (length > inlinedBytes) writeAddress(row, base, at);
      at = ends[row] ?? 0;
    }
    writeRows(vector, ends.length);
  }
  if (missing > 0) writeValidity(vector);
}

/** `columns` are as long as each other and parallel to `types`. */
export function appendChunks(
  appender: DuckDBAppender,
  types: readonly DuckDBType[],
  columns: readonly (readonly Cell[])[],
): void {
  const rows = columns[0]?.length ?? 0;
  const chunk = chunkOf(types);
  for (let start = 0; start < rows; start += chunkRows) {
    const end = Math.min(rows, start + chunkRows);
    chunk.reset();
    chunk.rowCount = end - start;
    for (const [at, cells] of columns.entries())
      fillVector(
        duckdb.data_chunk_get_vector(chunk.chunk, at),
        types[at],
        start === 0 && end === rows ? cells : cells.slice(start, end),
      );
    appender.appendDataChunk(chunk);
  }
  chunk.reset();
}

/** The appender copies what it is given, so one chunk serves all appends of its types. */
function chunkOf(types: readonly DuckDBType[]): DuckDBDataChunk {
  const key = types.map((type) => type.typeId).join(' ');
  const chunk = reusedChunks.get(key) ?? DuckDBDataChunk.create(types);
  reusedChunks.delete(key);
  reusedChunks.set(key, chunk);
  let columns = 0;
  for (const reused of reusedChunks.values()) columns += reused.columnCount;
  for (const [oldest, reused] of reusedChunks) {
    if (columns <= maxReusedColumns || reused === chunk) break;
    reusedChunks.delete(oldest);
    columns -= reused.columnCount;
  }
  return chunk;
}

function fillVector(vector: Vector, type: DuckDBType | undefined, cells: readonly Cell[]): void {
  const missing = markMissing(cells);
  if (missing === cells.length) {
    writeValidity(vector);
    return;
  }
  if (type === VARCHAR) fillTexts(vector, cells as readonly (string | null)[]);
  else if (type === DOUBLE) fillNumbers(vector, numbers, cells);
  else if (type === INTEGER) fillNumbers(vector, integers, cells);
  else if (type === BOOLEAN) fillNumbers(vector, booleans, cells);
  else throw new TypeError(`no column is of type ${String(type)}`);
  if (missing > 0) writeValidity(vector);
}

/** Bit by bit, 1 for a value. Returns how many values are missing. */
function markMissing(cells: readonly Cell[]): number {
  let missing = 0;
  validity.fill(0);
  for (let row = 0; row < cells.length; row += 1) {
    if (cells[row] === null) missing += 1;
    else validity[row >>> 5] = (validity[row >>> 5] ?? 0) | (1 << (row & 31));
  }
  return missing;
}

function writeValidity(vector: Vector): void {
  duckdb.vector_ensure_validity_writable(vector);
  duckdb.copy_data_to_vector_validity(vector, 0, validity.buffer, 0, validity.byteLength);
}

function fillNumbers(vector: Vector, buffer: Float64Array | Int32Array | Uint8Array, cells: readonly Cell[]): void {
  for (let row = 0; row < cells.length; row += 1) buffer[row] = Number(cells[row]);
  duckdb.copy_data_to_vector(vector, 0, buffer.buffer as ArrayBuffer, 0, cells.length * buffer.BYTES_PER_ELEMENT);
}

function fillTexts(vector: Vector, cells: readonly (string | null)[]): void {
  const joined = cells.join('');
  if (joined.length > maxJoinedLength) {
    for (const [row, cell] of cells.entries())
      if (cell !== null) duckdb.vector_assign_string_element(vector, row, cell);
    return;
  }
  const text = textBuffer(joined.length);
  const { read, written } = encoder.encodeInto(joined, text);
  if (read === joined.length && written === joined.length) fillAscii(vector, cells, text.subarray(0, written));
  else fillUnicode(vector, cells, joined.length);
}

/** Every UTF-16 unit is one byte. */
function fillAscii(vector: Vector, cells: readonly (string | null)[], text: Uint8Array): void {
  const base = storeText(vector, text);
  let at = 0;
  for (let row = 0; row < cells.length; row += 1) {
    const length = cells[row]?.length ?? 0;
    writeText(row, text, at, length);
    if (length > inlinedBytes) writeAddress(row, base, at);
    at += length;
  }
  writeRows(vector, cells.length);
}

function fillUnicode(vector: Vector, cells: readonly (string | null)[], length: number): void {
  const text = textBuffer(length * 3);
  const ends = new Uint32Array(cells.length);
  let end = 0;
  for (let row = 0; row < cells.length; row += 1) {
    const cell = cells[row];
    if (cell !== null && cell !== undefined && cell !== '') end += text.write(cell, end);
    ends[row] = end;
  }
  const base = storeText(vector, text.subarray(0, end));
  for (let row = 0, at = 0; row < cells.length; row += 1) {
    const length = (ends[row] ?? 0) - at;
    writeText(row, text, at, length);
    if (length > inlinedBytes) writeAddress(row, base, at);
    at = ends[row] ?? 0;
  }
  writeRows(vector, cells.length);
}

function textBuffer(bytes: number): Buffer {
  if (bytes <= reusedText.length) return reusedText;
  const larger = Buffer.allocUnsafeSlow(bytes);
  if (bytes <= reusedTextBytes) reusedText = larger;
  return larger;
}

/** Copies the text into memory that lives as long as the vector, and returns its address: low word, high word. */
function storeText(vector: Vector, text: Uint8Array): Uint32Array {
  if (text.length <= inlinedBytes) return new Uint32Array(2);
  duckdb.vector_assign_string_element_len(vector, 0, text);
  const first = duckdb.vector_get_data(vector, textBytes).slice();
  return new Uint32Array(first.buffer, first.byteOffset + textBytes - 8, 2);
}

/** The entry of a row: the length, and the text itself or its beginning. */
function writeText(row: number, text: Uint8Array, at: number, length: number): void {
  const word = row * 4;
  rowWords[word] = length;
  rowWords[word + 1] = 0;
  rowWords[word + 2] = 0;
  rowWords[word + 3] = 0;
  const copied = length <= inlinedBytes ? length : prefixBytes;
  for (let byte = 0; byte < copied; byte += 1) rowBytes[row * textBytes + prefixBytes + byte] = text[at + byte] ?? 0;
}

/** Where the rest of a longer text is. */
function writeAddress(row: number, base: Uint32Array, at: number): void {
  const word = row * 4;
  const low = (base[0] ?? 0) + at;
  rowWords[word + 2] = low;
  rowWords[word + 3] = (base[1] ?? 0) + (low >= 2 ** 32 ? 1 : 0);
}

function writeRows(vector: Vector, rows: number): void {
  duckdb.copy_data_to_vector(vector, 0, rowWords.buffer, 0, rows * textBytes);
}
