import { deepStrictEqual } from 'node:assert';
import fc from 'fast-check';
import { createRequire } from 'node:module';
import t from 'tap';
import type { QueryNode } from '../../schemas/query.js';
import { evaluate } from '../../search/reference/evaluate.js';
import { parseQuery } from '../../search/language/parser.js';
import { printQuery } from '../../search/language/print.js';
import { isQueryProblem } from '../../search/language/problem.js';

const seed = 20261121;
const now = Date.parse('2026-03-10T12:34:56.789Z');
const fragments = [
  'a',
  'error',
  'and',
  'AND',
  'or',
  'OR',
  'not',
  'NOT',
  '&&',
  '||',
  '!',
  '+',
  '-',
  '(',
  ')',
  '"',
  '"a b"',
  ' ',
  ' ',
  ' ',
  ':',
  'f:',
  'pod:',
  'source:',
  'message:',
  'timestamp:',
  '_exists_:',
  '[',
  ']',
  '{',
  '}',
  ' TO ',
  '*',
  '?',
  '/',
  '/x.*/',
  '\\',
  '^2',
  '~1',
  '~',
  '>',
  '>=',
  '<',
  '5',
  '-1.5e3',
  'now',
  '2026-01-02',
  'ÄÖ',
  'ς',
  '😀',
  '\u0000',
  '\ud800',
  'labels-app.x',
  '|',
  '&',
  ',',
  "'",
  '\n',
];
const anyText = fc
  .array(
    fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...fragments) }, fc.string({ unit: 'binary', maxLength: 4 })),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

t.test('any text is a tree or a problem with a place, and a printed tree parses to itself', async (t) => {
  let trees = 0;
  fc.assert(
    fc.property(anyText, (text) => {
      const node = parseQuery(text, { now });
      if (isQueryProblem(node))
        return node.position >= 0 && node.position + node.length <= text.length && node.allowed !== '';
      trees += 1;
      const printed = printQuery(node);
      deepStrictEqual(
        parseQuery(printed, { now: 0 }),
        node,
        `${JSON.stringify(text)} printed as ${JSON.stringify(printed)}`,
      );
      evaluate(node, { message: text, level: 3, timestamp: '2026-01-02T03:04:05.678Z', source: 'a' });
      return true;
    }),
    { seed, numRuns: 4000 },
  );
  t.ok(trees > 500, `${trees} of the texts were trees`);
});

const plain = { noNullPrototype: true };
const leaf = fc.oneof(
  fc.record(
    {
      kind: fc.constant('term' as const),
      field: fc.constantFrom(undefined, 'f', 'my field', 'labels-app', 'and', 'message'),
      text: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
    },
    plain,
  ),
  fc.record(
    {
      kind: fc.constant('phrase' as const),
      field: fc.constantFrom(undefined, 'f', 'source'),
      text: fc.string({ unit: 'grapheme', maxLength: 8 }),
    },
    plain,
  ),
  fc.record(
    {
      kind: fc.constant('exists' as const),
      field: fc
        .string({ unit: 'grapheme', minLength: 1, maxLength: 5 })
        .filter((name) => !['pod', 'host'].includes(name)),
    },
    plain,
  ),
  fc.record(
    {
      kind: fc.constant('range' as const),
      field: fc.constant('f'),
      from: fc.record(
        { value: fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0), inclusive: fc.boolean() },
        plain,
      ),
      to: fc.constant(undefined),
    },
    plain,
  ),
  fc.record(
    {
      kind: fc.constant('range' as const),
      field: fc.constant('timestamp'),
      from: fc.constant(undefined),
      to: fc.record({ value: fc.integer({ min: 0, max: 4e12 }), inclusive: fc.boolean() }, plain),
    },
    plain,
  ),
);
const { tree } = fc.letrec<{ tree: QueryNode; group: QueryNode; negation: QueryNode }>((tie) => ({
  tree: fc.oneof({ maxDepth: 3 }, leaf, tie('group'), tie('negation')),
  negation: tie('tree')
    .filter((child) => child.kind !== 'not')
    .map((child) => ({ kind: 'not' as const, child })),
  group: fc
    .tuple(fc.constantFrom('and' as const, 'or' as const), fc.array(tie('tree'), { minLength: 2, maxLength: 4 }))
    .filter(([kind, children]) => children.every((child) => child.kind !== kind))
    .map(([kind, children]) => ({ kind, children })),
}));

t.test('a tree printed and parsed is the same tree', async () => {
  fc.assert(
    fc.property(tree, (node) => {
      deepStrictEqual(parseQuery(printQuery(node), { now }), node, printQuery(node));
    }),
    { seed, numRuns: 1000 },
  );
});

t.test('long hostile texts are read in time linear in their length', async (t) => {
  const unlimited = { maxLength: 1e9, maxClauses: 1e9, now };
  for (const piece of [
    '/a ',
    '"',
    '\\',
    '(',
    'f:',
    '~',
    '^',
    '[a ',
    'f:[a ',
    'a~1',
    '/\\/ ',
    'NOT ',
    '+ ',
    '*',
    '!',
    'f:>',
    ': ',
    'a AND ',
    '||',
    'a:b:',
  ]) {
    const started = process.hrtime.bigint();
    parseQuery(piece.repeat(60_000), unlimited);
    const milliseconds = Number(process.hrtime.bigint() - started) / 1e6;
    t.ok(milliseconds < 1500, `${JSON.stringify(piece)} 60,000 times took ${Math.round(milliseconds)} ms`);
  }
});

interface PeerNode {
  readonly left?: PeerNode;
  readonly right?: PeerNode;
  readonly operator?: string;
  readonly start?: string;
  readonly field?: string;
  readonly term?: string;
  readonly quoted?: boolean;
  readonly regex?: boolean;
  readonly term_min?: string;
  readonly term_max?: string;
  readonly inclusive?: string;
}
const peer = createRequire(import.meta.url)('lucene') as { parse(text: string): PeerNode };

/** The tree of the package 'lucene' in our words, for the subset that both read alike. */
function translate(node: PeerNode): unknown {
  if (node.operator !== undefined && node.left !== undefined && node.right !== undefined) {
    const operator = node.operator;
    const left = node.start === 'NOT' ? { kind: 'not', child: translate(node.left) } : translate(node.left);
    const right = operator.endsWith('NOT') ? { kind: 'not', child: translate(node.right) } : translate(node.right);
    return { kind: operator.startsWith('AND') || operator === '&&' ? 'and' : 'or', children: [left, right] };
  }
  if (node.left !== undefined)
    return node.start === 'NOT' ? { kind: 'not', child: translate(node.left) } : translate(node.left);
  const field = node.field === '<implicit>' ? undefined : node.field;
  if (node.term_min !== undefined) {
    const end = (text: string | undefined, inclusive: boolean) =>
      text === '*' ? undefined : { value: Number(text), inclusive };
    return {
      kind: 'range',
      field,
      from: end(node.term_min, node.inclusive === 'both' || node.inclusive === 'left'),
      to: end(node.term_max, node.inclusive === 'both' || node.inclusive === 'right'),
    };
  }
  if (field === '_exists_') return { kind: 'exists', field: node.term };
  if (node.regex === true) return { kind: 'regex', field, pattern: node.term };
  if (node.quoted === true) return { kind: 'phrase', field, text: node.term };
  return /[*?]/.test(node.term ?? '')
    ? { kind: 'wildcard', field, pattern: node.term }
    : { kind: 'term', field, text: node.term };
}

const clause = fc.constantFrom(
  'error',
  'level:3',
  '"disk full"',
  'user:alice',
  'f:[1 TO 5]',
  'f:{1 TO 5}',
  'f:[1 TO 5}',
  'code:40*',
  'user:al?ce',
  'g:/[a-z]+/',
  '_exists_:f',
  'tag:"a b"',
  'x^2',
  'y:z~0.8',
);
const { query } = fc.letrec<{ query: string; binary: string }>((tie) => ({
  query: fc.oneof({ maxDepth: 3 }, clause, tie('binary')),
  binary: fc
    .tuple(tie('query'), fc.constantFrom('AND', 'OR', '&&', '||'), tie('query'))
    .map(([left, operator, right]) => `(${left}) ${operator} (${right})`),
}));

t.test('the subset shared with npm lucene is read as that parser reads it', async () => {
  const flatten = (node: unknown): unknown =>
    JSON.parse(JSON.stringify(node), (_key, value: unknown) => {
      const { kind, children } = (value ?? {}) as {
        kind?: string;
        children?: { kind: string; children?: unknown[] }[];
      };
      return children === undefined
        ? value
        : { kind, children: children.flatMap((child) => (child.kind === kind ? (child.children ?? []) : [child])) };
    }) as unknown;
  fc.assert(
    fc.property(query, (text) => {
      deepStrictEqual(flatten(parseQuery(text, { now })), flatten(translate(peer.parse(text))), text);
    }),
    { seed, numRuns: 500 },
  );
});
