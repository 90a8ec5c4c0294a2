/** Gathers the words of some rows, and in which rows and fields they are. */
import { lowerCase, maxWordLength, wordsOf } from '../../../../schemas/words.js';
import { fieldBits, PostingsBuffer } from './postings.js';

/** Fields with an index; `1 << place` is a field's bit. The last one is kept as a whole value, in small letters. */
export const wordFields = ['message', 'full_message', 'source'] as const;
export const wholeField = 2;

/** Texts of a row that are longer together, in UTF-16 units, are looked through each time. */
export const maxTextLength = 2 ** 16;
const leastCapacity = 2 ** 18;
const none = -1;

export type Texts = readonly (string | null)[];

/** Words of a part of the segment, as they are appended. */
interface WordRows {
  readonly words: readonly string[];
  /** Where each word's bytes end. */
  readonly postings: { readonly bytes: Uint8Array; readonly ends: Uint32Array };
}

export class SegmentBuilder {
  readonly #numbers = new Map<string, number>();
  /** First and last posting of each word. */
  #heads = new Int32Array(leastCapacity);
  #tails = new Int32Array(leastCapacity);
  /** Row and fields of each posting, and the word's next one. */
  #postings = new Int32Array(leastCapacity);
  #next = new Int32Array(leastCapacity);
  #count = 0;
  /** Size of all texts that were added. */
  characters = 0;
  /** Rows whose words are not known. */
  readonly exceptions: number[] = [];

  readonly #maxPostings: number;

  constructor(maxPostings: number) {
    this.#maxPostings = maxPostings;
  }

  get isFull(): boolean {
    return this.#count >= this.#maxPostings;
  }

  /** `row`: in the segment, ascending. `texts`: parallel to `wordFields`. */
  add(row: number, texts: Texts): void {
    const length = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
    this.characters += length;
    if (length > maxTextLength) {
      this.exceptions.push(row);
      return;
    }
    const cut = texts.map((text, field) =>
      text === null ? [] : field === wholeField ? [lowerCase(text)] : wordsOf(text),
    );
    if (cut.some((words) => words.some((word) => word.length >= maxWordLength))) {
      this.exceptions.push(row);
      return;
    }
    for (const [field, words] of cut.entries()) {
      for (const word of words) this.#note(word, row, 1 << field);
    }
  }

  #note(word: string, row: number, field: number): void {
    let number = this.#numbers.get(word);
    const isNew = number === undefined;
    if (number === undefined) {
      number = this.#numbers.size;
      this.#numbers.set(word, number);
      if (number === this.#heads.length) {
        this.#heads = grown(this.#heads);
        this.#tails = grown(this.#tails);
      }
    } else {
      const last = this.#tails[number] ?? 0;
      const posting = this.#postings[last] ?? 0;
      if (posting >>> fieldBits === row) {
        this.#postings[last] = posting | field;
        return;
      }
    }
    if (this.#count === this.#next.length) {
      this.#postings = grown(this.#postings);
      this.#next = grown(this.#next);
    }
    const here = this.#count++;
    this.#postings[here] = (row << fieldBits) | field;
    this.#next[here] = none;
    if (isNew) this.#heads[number] = here;
    else this.#next[this.#tails[number] ?? 0] = here;
    this.#tails[number] = here;
  }

  /** All of it, so many words at a time. The bytes are valid until the next part is asked for. */
  *parts(wordsOfPart: number): Generator<WordRows> {
    const buffer = new PostingsBuffer();
    const all = [...this.#numbers.keys()];
    for (let first = 0; first < all.length; first += wordsOfPart) {
      const words = all.slice(first, first + wordsOfPart);
      const ends = new Uint32Array(words.length);
      buffer.clear();
      for (let at = 0; at < words.length; at += 1) {
        this.#write(buffer, first + at);
        ends[at] = buffer.length;
      }
      yield { words, postings: { bytes: buffer.bytes.subarray(0, buffer.length), ends } };
    }
  }

  #write(buffer: PostingsBuffer, number: number): void {
    let before = 0;
    for (let at = this.#heads[number] ?? 0; at !== none; at = this.#next[at] ?? 0) {
      const posting = this.#postings[at] ?? 0;
      const row = posting >>> fieldBits;
      buffer.add(row - before, posting & ((1 << fieldBits) - 1));
      before = row;
    }
  }
}

function grown(list: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(list.length * 2);
  larger.set(list);
  return larger;
}
