/**
 * Finds which of many literals a text contains, in one pass: Wu and Manber's search with blocks of two characters. A block
 * that ends no literal's head lets the search skip ahead, so hundreds of literals cost little more than a few.
 */
export interface LiteralScanner {
  /** Marks the entries of each literal found. */
  scan(text: string, mark: (entries: readonly number[]) => void): void;
}

/** 2^12 blocks: the skip table stays in the first-level cache; what collides is checked again. */
const blocks = 4096;
/** Longer heads skip further, but fill the skip table. */
const longestHead = 12;
/** Below this length, and below this many, searching for each on its own is faster. */
const shortestHead = 3;
const fewLiterals = 4;

interface Literal {
  readonly text: string;
  readonly first: number;
  readonly entries: readonly number[];
}

const block = (left: number, right: number): number => ((left << 5) ^ right) & (blocks - 1);

export function createLiteralScanner(entriesOf: ReadonlyMap<string, readonly number[]>): LiteralScanner {
  const literals = [...entriesOf].map(([text, entries]): Literal => ({ text, first: text.charCodeAt(0), entries }));
  const long = literals.filter((literal) => literal.text.length >= shortestHead);
  if (long.length < fewLiterals) return { scan: (text, mark) => scanEach(literals, text, mark) };
  const short = literals.filter((literal) => literal.text.length < shortestHead);
  const scanLong = createHeadScanner(long);
  return {
    scan: (text, mark) => {
      scanEach(short, text, mark);
      scanLong(text, mark);
    },
  };
}

function scanEach(literals: readonly Literal[], text: string, mark: (entries: readonly number[]) => void): void {
  for (const literal of literals) if (text.includes(literal.text)) mark(literal.entries);
}

function createHeadScanner(literals: readonly Literal[]): LiteralScanner['scan'] {
  const head = Math.min(longestHead, ...literals.map((literal) => literal.text.length));
  const skips = new Uint8Array(blocks).fill(head - 1);
  const endings: Literal[][] = Array.from({ length: blocks }, () => []);
  for (const literal of literals) {
    for (let place = 1; place < head; place += 1) {
      const at = block(literal.text.charCodeAt(place - 1), literal.text.charCodeAt(place));
      skips[at] = Math.min(skips[at] as number, head - 1 - place);
      if (place === head - 1) (endings[at] as Literal[]).push(literal);
    }
  }
  return (text, mark) => {
    const length = text.length;
    let place = head - 1;
    while (place < length) {
      const at = block(text.charCodeAt(place - 1), text.charCodeAt(place));
      const skip = skips[at] as number;
      if (skip > 0) {
        place += skip;
        continue;
      }
      const start = place - head + 1;
      const first = text.charCodeAt(start);
      for (const literal of endings[at] as Literal[]) if (literal.first === first && text.startsWith(literal.text, start)) mark(literal.entries);
      place += 1;
    }
  };
}
