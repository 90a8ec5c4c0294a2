/**
 * Finds which of many literals a text contains, in one pass: Wu and Manber's search with blocks of two characters. A
 * block that ends no literal's window lets the search skip ahead, so hundreds of literals cost little more than a few.
 */
export interface LiteralScanner {
  /** Marks the entries of each literal found. */
  scan(text: string, mark: (entries: readonly number[]) => void): void;
}

/** 2^12 blocks: the skip table stays in the first-level cache; what collides is checked again. */
const blocks = 4096;
/** Longer windows skip further, but fill the skip table. */
const longestWindow = 12;
/** So many literals may end in one block before another window is looked for. */
const crowded = 1;
/** How far into a literal a window is looked for. */
const longestChoice = 256;
/** Below this length, and below this many, searching for each on its own is faster. */
const shortestWindow = 3;
const fewLiterals = 4;

interface Literal {
  readonly text: string;
  readonly entries: readonly number[];
}

/** The part of a literal that the search looks for. */
interface Window {
  readonly literal: Literal;
  /** Where it begins in the literal. */
  readonly offset: number;
  readonly first: number;
}

const block = (left: number, right: number): number => ((left << 5) ^ right) & (blocks - 1);

export function createLiteralScanner(entriesOf: ReadonlyMap<string, readonly number[]>): LiteralScanner {
  const literals = [...entriesOf].map(([text, entries]): Literal => ({ text, entries }));
  const long = literals.filter((literal) => literal.text.length >= shortestWindow);
  if (long.length < fewLiterals) return { scan: (text, mark) => scanEach(literals, text, mark) };
  const short = literals.filter((literal) => literal.text.length < shortestWindow);
  const scanLong = createWindowScanner(long);
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

function createWindowScanner(literals: readonly Literal[]): LiteralScanner['scan'] {
  const size = Math.min(longestWindow, ...literals.map((literal) => literal.text.length));
  const skips = new Uint8Array(blocks).fill(size - 1);
  const endings = new Array<readonly Window[]>(blocks).fill([]);
  for (const literal of literals) {
    const offset = chooseOffset(literal.text, size, endings);
    for (let place = 1; place < size; place += 1) {
      const at = block(literal.text.charCodeAt(offset + place - 1), literal.text.charCodeAt(offset + place));
      skips[at] = Math.min(skips[at] as number, size - 1 - place);
      if (place === size - 1)
        endings[at] = [...(endings[at] ?? []), { literal, offset, first: literal.text.charCodeAt(offset) }];
    }
  }
  return (text, mark) => {
    const length = text.length;
    let place = size - 1;
    while (place < length) {
      const at = block(text.charCodeAt(place - 1), text.charCodeAt(place));
      const skip = skips[at] as number;
      if (skip > 0) {
        place += skip;
        continue;
      }
      const start = place - size + 1;
      const first = text.charCodeAt(start);
      for (const window of endings[at] as readonly Window[]) {
        if (
          window.first === first &&
          start >= window.offset &&
          text.startsWith(window.literal.text, start - window.offset)
        )
          mark(window.literal.entries);
      }
      place += 1;
    }
  };
}

/**
 * The head of the literal, unless others end in the same block already: then the part that shares it with the fewest.
 */
function chooseOffset(text: string, size: number, endings: readonly (readonly Window[])[]): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let offset = 0; offset + size <= Math.min(text.length, longestChoice) && least > crowded; offset += 1) {
    const sharing = endings[block(text.charCodeAt(offset + size - 2), text.charCodeAt(offset + size - 1))]?.length ?? 0;
    if (sharing < least) {
      least = sharing;
      best = offset;
    }
  }
  return best;
}
