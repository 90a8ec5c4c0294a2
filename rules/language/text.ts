/** Text of a rule file → its data, and where each value stands in the text. */
import { isMap, isNode, isPair, isScalar, isSeq, LineCounter, parseDocument, type Document } from 'yaml';
import { toError } from '../../core/errors.js';
import type { Path } from '../problems.js';

interface Position {
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

interface FileText {
  readonly data: unknown;
  /** Of the value, or of its key. The deepest node on the path that exists decides. */
  readonly positionOf: (path: Path, atKey: boolean) => Position;
}

interface TextMistake extends Position {
  readonly message: string;
}

interface ParsedText {
  readonly document: Document;
  readonly lines: LineCounter;
}

export function readFileText(text: string): FileText | { readonly mistakes: readonly TextMistake[] } {
  const json = readJson(text);
  if (json !== undefined) return { data: json, positionOf: createLocator(() => parseText(text)) };
  const parsed = parseText(text);
  const { document, lines } = parsed;
  if (document.errors.length > 0)
    return {
      mistakes: document.errors.map(({ code, message, pos }) => ({
        ...positionAt(lines, pos[0]),
        message: code === 'DUPLICATE_KEY' ? 'The key stands here twice.' : `This is no YAML: ${message}.`,
      })),
    };
  const data = dataOf(document);
  if (data instanceof Error)
    return { mistakes: [{ ...locate(parsed, [], false), message: `This is no YAML: ${data.message}.` }] };
  // The nodes take many times the space of the text, and only a mistake asks for them.
  return { data, positionOf: createLocator(() => parseText(text)) };
}

/** A key of YAML may have 1,024 characters, one of JSON any number. Keys of the form begin a line. */
const longestLine = 1_000;

/**
 * Stored definitions come as JSON in one form, which YAML reads equally and far more slowly. Undefined: any other text,
 * such as JSON with a key that stands twice.
 */
function readJson(text: string): unknown {
  if (!text.startsWith('{') || hasLongLine(text)) return undefined;
  try {
    const data: unknown = JSON.parse(text);
    return `${JSON.stringify(data, undefined, 2)}\n` === text ? data : undefined;
  } catch {
    return undefined;
  }
}

function hasLongLine(text: string): boolean {
  for (let start = 0; start + longestLine < text.length; ) {
    const end = text.indexOf('\n', start);
    if ((end < 0 ? text.length : end) - start > longestLine) return true;
    if (end < 0) return false;
    start = end + 1;
  }
  return false;
}

function parseText(text: string): ParsedText {
  const lines = new LineCounter();
  return { document: parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false }), lines };
}

/** Aliases without an anchor, and aliases that multiply, show only now. */
function dataOf(document: Document): unknown {
  try {
    return (document.toJS({ maxAliasCount: 100 }) as unknown) ?? {};
  } catch (error) {
    return toError(error);
  }
}

/** The text is parsed for its first position, and the nodes are released with the problems that ask. */
function createLocator(parse: () => ParsedText): FileText['positionOf'] {
  let parsed: WeakRef<ParsedText> | undefined;
  return (path, atKey) => {
    const found = parsed?.deref() ?? parse();
    parsed = new WeakRef(found);
    return locate(found, path, atKey);
  };
}

function locate({ document, lines }: ParsedText, path: Path, atKey: boolean): Position {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [depth, part] of path.entries()) {
    const last = depth === path.length - 1;
    let next: unknown;
    if (isMap(node)) {
      const pair = node.items.find(
        (item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(part),
      );
      next = atKey && last ? pair?.key : (pair?.value ?? pair?.key);
    } else if (isSeq(node)) next = node.items[Number(part)];
    const start = startOf(next);
    if (start === undefined) break;
    offset = start;
    node = next;
  }
  return positionAt(lines, offset);
}

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
