/**
 * `rule "name" when <expression> then <statement>* end`. Names of the grammar are taken in any case.
 * Precedence, loosest first: or, and, `== !=`, `< <= > >=`, `+ -`, `* / %`, not, unary `+ -`, then calls, members and
 * indices.
 */
import { createCursor, isWord, shownToken, type Cursor } from './cursor.js';
import { wrongAt } from './problem.js';
import type { Token } from './tokens.js';
import type { Argument, Node, NodeOf, RuleText, Statement } from './tree.js';

/** Deeper nesting is a mistake; the parser and all that walks its tree recurse this deep. */
const maxDepth = 50;
/** Of one rule. */
const maxStatements = 200;
const levels: readonly (readonly string[])[] = [
  ['==', '!='],
  ['<', '<=', '>', '>='],
  ['+', '-'],
  ['*', '/', '%'],
];

interface Parsing {
  readonly cursor: Cursor;
  depth: number;
}

export function parseRule(source: string): RuleText {
  const cursor = createCursor(source);
  const parsing: Parsing = { cursor, depth: 0 };
  cursor.expectWord('rule');
  const name = cursor.expectText('the name of the rule in quotes');
  cursor.expectWord('when');
  const when = expression(parsing);
  const then: Statement[] = [];
  if (cursor.word('then')) {
    while (!isWord(cursor.peek(), 'end')) {
      if (cursor.sign(';')) continue;
      if (then.length >= maxStatements)
        throw wrongAt(cursor.peek(), `A rule has ${maxStatements} statements at the most.`);
      then.push(statement(parsing));
    }
  }
  cursor.expectWord('end');
  cursor.expectEnd();
  return { name, when, then };
}

function statement(parsing: Parsing): Statement {
  const { cursor } = parsing;
  const { line, column } = cursor.peek();
  if (cursor.word('let')) {
    const name = nameOf(cursor.next(), 'the name of a variable');
    cursor.expectSign('=');
    const value = expression(parsing);
    cursor.expectSign(';');
    return { kind: 'let', name, value, line, column };
  }
  const call = expression(parsing);
  if (call.kind !== 'call') throw wrongAt(call, 'Expected `let`, the call of a function, or `end`.');
  cursor.expectSign(';');
  return { kind: 'do', call };
}

function expression(parsing: Parsing): Node {
  const conjunction = (): Node => joined(parsing, conjunctions, () => operation(parsing, 0));
  return joined(parsing, disjunctions, conjunction);
}

interface Joining {
  readonly kind: 'all' | 'any';
  readonly word: string;
  readonly sign: string;
}

const conjunctions: Joining = { kind: 'all', word: 'and', sign: '&&' };
const disjunctions: Joining = { kind: 'any', word: 'or', sign: '||' };

function joined({ cursor }: Parsing, { kind, word, sign }: Joining, one: () => Node): Node {
  const first = one();
  const of = [first];
  while (cursor.sign(sign) || cursor.word(word)) of.push(one());
  return of.length === 1 ? first : { kind, of, line: first.line, column: first.column };
}

/** Chains of one level nest to the left, so they count as depth. */
function operation(parsing: Parsing, level: number): Node {
  const signs = levels[level];
  if (signs === undefined) return unary(parsing);
  const { cursor } = parsing;
  let left = operation(parsing, level + 1);
  for (let length = 1; ; length += 1) {
    const token = cursor.peek();
    if (token.kind !== 'sign' || !signs.includes(token.text)) return left;
    if (length > maxDepth) throw tooDeep(token);
    cursor.next();
    left = {
      kind: 'operation',
      sign: token.text,
      left,
      right: operation(parsing, level + 1),
      line: left.line,
      column: left.column,
    };
  }
}

const tooDeep = (token: Token): Error => wrongAt(token, `Expressions are nested ${maxDepth} deep at the most.`);

function unary(parsing: Parsing): Node {
  const { cursor } = parsing;
  const token = cursor.peek();
  parsing.depth += 1;
  if (parsing.depth > maxDepth) throw tooDeep(token);
  try {
    if (cursor.sign('!') || cursor.word('not'))
      return { kind: 'not', of: unary(parsing), line: token.line, column: token.column };
    if (cursor.sign('-')) return { kind: 'minus', of: unary(parsing), line: token.line, column: token.column };
    if (cursor.sign('+')) return unary(parsing);
    return members(parsing, primary(parsing));
  } finally {
    parsing.depth -= 1;
  }
}

/** `a.b`, `a[i]` */
function members(parsing: Parsing, first: Node): Node {
  const { cursor } = parsing;
  let of = first;
  for (let length = 1; ; length += 1) {
    const token = cursor.peek();
    if (length > maxDepth) throw tooDeep(token);
    const place = { line: of.line, column: of.column };
    if (cursor.sign('.')) {
      const key = cursor.next();
      of = {
        kind: 'member',
        of,
        key: { kind: 'literal', value: nameOf(key, 'a name'), line: key.line, column: key.column },
        ...place,
      };
    } else if (cursor.sign('[')) {
      const key = expression(parsing);
      cursor.expectSign(']');
      of = { kind: 'member', of, key, ...place };
    } else return of;
  }
}

function primary(parsing: Parsing): Node {
  const { cursor } = parsing;
  const token = cursor.next();
  const { line, column } = token;
  if (token.kind === 'text') return { kind: 'literal', value: token.text, line, column };
  if (token.kind === 'number') return { kind: 'literal', value: token.value ?? 0, line, column };
  if (token.kind === 'quoted word') return { kind: 'name', name: token.text, line, column };
  if (token.kind === 'word') return named(parsing, token);
  if (token.text === '(') {
    const inner = expression(parsing);
    cursor.expectSign(')');
    return inner;
  }
  if (token.text === '[') return { kind: 'list', of: listed(parsing, ']', () => expression(parsing)), line, column };
  if (token.text === '{') return { kind: 'map', of: listed(parsing, '}', () => entry(parsing)), line, column };
  throw wrongAt(token, `Expected a value, got ${shownToken(token)}.`);
}

const reserved = new Set(['rule', 'when', 'then', 'end', 'let', 'and', 'or', 'not']);

function named(parsing: Parsing, token: Token): Node {
  const { cursor } = parsing;
  const { text, line, column } = token;
  if (text === 'true' || text === 'false') return { kind: 'literal', value: text === 'true', line, column };
  if (text === '$message') {
    if (!cursor.sign('.')) return { kind: 'name', name: text, line, column };
    return { kind: 'field', name: nameOf(cursor.next(), 'the name of a field'), line, column };
  }
  if (reserved.has(text.toLowerCase())) throw wrongAt(token, `Expected a value, got ${shownToken(token)}.`);
  if (!cursor.sign('(')) return { kind: 'name', name: text, line, column };
  return {
    kind: 'call',
    name: text,
    given: listed(parsing, ')', () => argument(parsing)),
    line,
    column,
  } satisfies NodeOf<'call'>;
}

function argument(parsing: Parsing): Argument {
  const value = expression(parsing);
  if (!parsing.cursor.sign(':')) return { name: undefined, value };
  if (value.kind !== 'name') throw wrongAt(value, 'Expected the name of an argument before `:`.');
  return { name: value.name, value: expression(parsing) };
}

function entry(parsing: Parsing): { readonly key: string; readonly value: Node } {
  const token = parsing.cursor.next();
  const key = token.kind === 'text' ? token.text : nameOf(token, 'a key');
  parsing.cursor.expectSign(':');
  return { key, value: expression(parsing) };
}

/** Up to the closing sign, with commas between. */
function listed<Item>({ cursor }: Parsing, closing: string, one: () => Item): Item[] {
  const items: Item[] = [];
  if (cursor.sign(closing)) return items;
  do items.push(one());
  while (cursor.sign(','));
  cursor.expectSign(closing);
  return items;
}

function nameOf(token: Token, what: string): string {
  if (token.kind === 'word' || token.kind === 'quoted word') return token.text;
  throw wrongAt(token, `Expected ${what}, got ${shownToken(token)}.`);
}
