/**
 * RE2 expressions in Lucene's syntax. Lucene's are anchored, know neither assertions nor lazy repeats, and give meaning
 * to `" < > @ & ~ #`. What it cannot express is refused by name; nothing is answered approximately.
 */
import { storeErrors } from '../../errors.js';

interface LuceneExpression {
  readonly text: string;
  readonly anyCase: boolean;
}

const classes: Readonly<Record<string, string>> = { d: '0-9', w: '0-9A-Za-z_', s: '\t\n\f\r ' };
const controls: Readonly<Record<string, string>> = { a: '\x07', f: '\f', t: '\t', n: '\n', r: '\r', v: '\v' };
const special = /[.?+*|{}[\]()"\\#@&<>~^$-]/;
/** In RE2 a dot does not match a line end. */
const anyButLineEnd = '[^\n]';
const escapeHex = /^\\x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))/;

export function luceneExpression(pattern: string): LuceneExpression {
  const flags = /^\(\?([is]+)\)/.exec(pattern);
  const reader = new Reader(pattern.slice(flags?.[0].length ?? 0), pattern, flags?.[1]?.includes('s') === true);
  return { text: reader.expression(), anyCase: flags?.[1]?.includes('i') === true };
}

function literal(text: string): string {
  return Array.from(text, (one) => (special.test(one) ? `\\${one}` : one)).join('');
}

/** Walks one expression; a class because of its position. */
class Reader {
  readonly #text: string;
  readonly #whole: string;
  readonly #dot: string;
  #at = 0;

  constructor(text: string, whole: string, dotAll: boolean) {
    this.#text = text;
    this.#whole = whole;
    this.#dot = dotAll ? '(.|\n)' : anyButLineEnd;
  }

  expression(): string {
    let out = '';
    while (this.#at < this.#text.length) out += this.#next();
    return out;
  }

  #next(): string {
    const rest = this.#text.slice(this.#at);
    const one = String.fromCodePoint(rest.codePointAt(0) as number);
    if (one === '\\') return this.#escape();
    if (one === '[') return this.#class();
    if (one === '(') return this.#group(rest);
    const repeat = /^(?:[*+?]|\{\d+(?:,\d*)?\})/.exec(rest);
    if (repeat !== null) {
      this.#at += repeat[0].length;
      /** A whole match is the same whether a repeat is lazy or not. */
      if (this.#text[this.#at] === '?') this.#at += 1;
      return repeat[0];
    }
    this.#at += one.length;
    if (one === '.') return this.#dot;
    if (one === '|' || one === ')') return one;
    if (one === '^') return this.#edge(this.#at === 1, one);
    if (one === '$') return this.#edge(this.#at === this.#text.length, one);
    return literal(one);
  }

  #edge(harmless: boolean, sign: string): string {
    if (!harmless) this.#refuse(sign);
    return '';
  }

  #group(rest: string): string {
    const opening = /^\((?:\?:|\?P?<\w+>)?/.exec(rest)?.[0] ?? '(';
    const flags = /^\(\?([is]+):/.exec(rest);
    if (flags !== null && flags[1] === 's') {
      this.#at += flags[0].length;
      return this.#dotAllGroup();
    }
    if (rest[1] === '?' && opening === '(') this.#refuse(rest.slice(0, 4));
    this.#at += opening.length;
    return '(';
  }

  /** `(?s:.*)` and `(?s:.)`, as wildcards are written; nothing longer. */
  #dotAllGroup(): string {
    const inner = /^\.(\*?)\)/.exec(this.#text.slice(this.#at));
    if (inner === null) this.#refuse('(?s:');
    this.#at += inner[0].length;
    return `(.|\n)${inner[1] ?? ''}`;
  }

  #escape(): string {
    const rest = this.#text.slice(this.#at);
    const quoted = /^\\Q([\s\S]*?)(?:\\E|$)/.exec(rest);
    if (quoted !== null) {
      this.#at += quoted[0].length;
      return literal(quoted[1] ?? '');
    }
    const name = rest[1] ?? '';
    const inside = classes[name.toLowerCase()];
    if (inside !== undefined) {
      this.#at += 2;
      return name === name.toLowerCase() ? `[${inside}]` : `[^${inside}]`;
    }
    if (name === 'A' && this.#at === 0) return this.#skip(2);
    if (name === 'z' && this.#at + 2 === this.#text.length) return this.#skip(2);
    return literal(this.#escapedCharacter(rest));
  }

  #skip(length: number): string {
    this.#at += length;
    return '';
  }

  #escapedCharacter(rest: string): string {
    const hex = escapeHex.exec(rest);
    if (hex !== null) {
      this.#at += hex[0].length;
      return String.fromCodePoint(Number.parseInt(hex[1] ?? hex[2] ?? '0', 16));
    }
    const name = rest[1] ?? '';
    if (/[0-9A-Za-z]/.test(name) && controls[name] === undefined) this.#refuse(`\\${name}`);
    if (name === '') this.#refuse('\\');
    this.#at += 2;
    return controls[name] ?? name;
  }

  #class(): string {
    const start = /^\[\^?/.exec(this.#text.slice(this.#at))?.[0] ?? '[';
    this.#at += start.length;
    let out = start;
    for (let first = true; ; first = false) {
      const one = this.#text[this.#at];
      if (one === undefined) this.#refuse('[');
      if (one === ']' && !first) break;
      out += this.#classItem(first);
    }
    this.#at += 1;
    return `${out}]`;
  }

  #classItem(first: boolean): string {
    const rest = this.#text.slice(this.#at);
    if (rest.startsWith('[:')) this.#refuse('[:');
    if (rest[0] === '\\') {
      const inside = classes[rest[1] ?? ''];
      if (inside !== undefined) {
        this.#at += 2;
        return inside;
      }
      return literal(this.#escapedCharacter(rest));
    }
    const one = String.fromCodePoint(rest.codePointAt(0) as number);
    this.#at += one.length;
    return one === '-' && !first && this.#text[this.#at] !== ']' ? '-' : literal(one);
  }

  #refuse(what: string): never {
    throw storeErrors.create('STORE_QUERY_INVALID', {
      place: `/${this.#whole}/`,
      got: `the construct ${what}`,
      allowed: 'characters, classes, groups, alternatives, repeats and, at the beginning, (?i)',
    });
  }
}
