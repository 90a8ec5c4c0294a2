/** A document in the making: fields are set without overwriting any, and what was changed to fit is listed. */
import type { FieldValue, LogDocument } from '../schemas/messages.js';
import { literalsOf } from './members.js';

/** More are only counted: a hostile message may hold a million odd names. */
const maxListed = 50;
const maxQuoted = 80;

export class Draft {
  readonly document: LogDocument;
  readonly #text: string;
  #literals: ReadonlyMap<string, string> | undefined;
  #adjustments: string[] | undefined;
  #unlisted = 0;
  #renamed = 0;

  /** `text`: what the sender wrote. */
  constructor(document: LogDocument, text: string) {
    this.document = document;
    this.#text = text;
  }

  /** What the sender literally wrote for a top-level field. The first call scans the message. */
  literal(key: string): string {
    this.#literals ??= literalsOf(this.#text);
    return this.#literals.get(key) ?? '';
  }

  note(field: string, change: string): void {
    this.#adjustments ??= [];
    if (this.#adjustments.length < maxListed) this.#adjustments.push(`${quoted(field)} ${change}`);
    else this.#unlisted += 1;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.document, name);
  }

  /**
   * Sets the field where it is free or equal; else the value is kept as `sender_<name>`. `original` is the name as the
   * sender wrote it. Returns the name that the value has now.
   */
  put(name: string, value: FieldValue, original: string, changed: boolean): string {
    if (!this.has(name)) {
      this.document[name] = value;
      if (changed) this.note(original, `renamed to ${name}`);
      return name;
    }
    return this.document[name] === value ? name : this.putBeside(name, value, original);
  }

  /** Keeps the value as `sender_<name>`, or with a number behind it where that is taken too. */
  putBeside(name: string, value: FieldValue, original: string): string {
    let free = `sender_${name}`;
    while (this.has(free)) {
      if (this.document[free] === value) return free;
      this.#renamed += 1;
      free = `sender_${name}_${this.#renamed}`;
    }
    this.document[free] = value;
    this.note(original, `kept as ${free}`);
    return free;
  }

  finish(): LogDocument {
    if (this.#adjustments !== undefined) {
      this.document['adjustments'] =
        this.#unlisted === 0 ? this.#adjustments : [...this.#adjustments, `and ${this.#unlisted} more`];
    }
    return this.document;
  }
}

function quoted(name: string): string {
  return name.length > maxQuoted ? `${name.slice(0, maxQuoted)}...` : name;
}
