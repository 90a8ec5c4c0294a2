/** Any text either is a rule, which then compiles, or is refused with a place within it; in linear time. */
import fc from 'fast-check';
import t from 'tap';
import { isSluiceError } from '../../../../core/errors.js';
import { compileRules } from '../../../../rules/compile/compile.js';
import { parsePipeline } from '../../../../definitions/graylog/pipeline-rules/parse-pipeline.js';
import { textProblemsOf } from '../../../../definitions/graylog/contract.js';
import { translateRule } from '../../../../definitions/graylog/pipeline-rules/translate.js';
import { known } from './support.js';

const word = fc.constantFrom(
  'rule',
  '"x"',
  'when',
  'then',
  'end',
  'let',
  'and',
  '||',
  '&&',
  '!',
  'not',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  ',',
  ';',
  ':',
  '.',
  '==',
  '!=',
  '<',
  '>=',
  '+',
  '-',
  '=',
  'true',
  'false',
  '$message',
  '$message.a',
  '1',
  '0x1F',
  '1.5e3',
  '"a"',
  '"\\n"',
  "'c'",
  '`q`',
  'a',
  'has_field',
  'has_field("a")',
  'set_field("a", "b")',
  'to_string($message.a)',
  'regex("(a)", to_string($message.b))',
  '.matches',
  'parse_json($message.a)',
  'set_fields',
  'route_to_stream("Other")',
  '/*',
  '*/',
  '//',
  '\n',
  '\\',
  '"',
  '$',
  '@',
  'é',
);
const loose = fc.array(word, { maxLength: 40 }).map((words) => words.join(' '));
const statement = fc.constantFrom(
  'set_field("a", "b");',
  'set_field("c", to_string($message.a) + v);',
  'let v = to_string($message.b);',
  'let w = parse_json(to_string($message.d));',
  'set_fields(to_map(w));',
  'set_fields(w, "p_");',
  'route_to_stream("Other", remove_from_default: true);',
  'route_to_stream(name: "Other", remove_from_default: true);',
  'remove_field("a");',
  'rename_field("a", "b");',
  'drop_message();',
  'let m = regex("(a)(b)", to_string($message.e));',
  'set_field("f", m["1"]);',
  'set_fields(grok("%{WORD:g} %{WORD}", v));',
  'debug("x");',
  ';',
);
const atom = fc.constantFrom(
  'has_field("a")',
  'to_bool($message.b)',
  'to_string($message.c) == "x"',
  'contains(to_string($message.d), "y", true)',
  'regex("^z", to_string($message.e)).matches == true',
  'true',
  '$message.f != 3',
);
const likely = fc
  .tuple(atom, fc.array(statement, { maxLength: 8 }))
  .map(([when, then]) => `rule "l" when ${when} then ${then.join('\n')} end`);
const framed = fc
  .tuple(fc.array(word, { maxLength: 12 }), fc.array(word, { maxLength: 20 }))
  .map(([when, then]) => `rule "f" when ${when.join(' ')} then ${then.join(' ')} end`);

function places(source: string, run: () => void): boolean {
  try {
    run();
    return true;
  } catch (error) {
    if (!isSluiceError(error) || error.code !== 'OBJECT_TEXT_INVALID') throw error;
    const lines = source.split('\n');
    const problems = textProblemsOf(error);
    return (
      problems.length > 0 &&
      problems.every(
        ({ line, column, message }) =>
          line >= 1 &&
          line <= lines.length &&
          column >= 1 &&
          column <= (lines[line - 1]?.length ?? 0) + 1 &&
          message !== '',
      )
    );
  }
}

t.test('words in any order', async (t) => {
  let taken = 0;
  fc.assert(
    fc.property(fc.oneof(loose, framed, likely, fc.string({ unit: 'binary', maxLength: 200 })), (source) =>
      places(source, () => {
        const { when, then } = translateRule(source, known);
        taken += 1;
        const rules = [{ id: 'r', when, then: then.length === 0 ? [{ drop: true }] : then }];
        const result = compileRules({
          files: [{ name: 'f.yaml', text: JSON.stringify({ rules, streams: [{ id: 'other' }, { id: 'audit' }] }) }],
        });
        if (
          'problems' in result &&
          result.problems.some(({ message }) => /means nothing here|is missing|does not fit/.test(message))
        )
          throw new Error(`${source}: ${result.problems[0]?.message}`);
      }),
    ),
    { seed: 8, numRuns: 4_000 },
  );
  t.ok(taken > 50, `${taken} were rules`);
  fc.assert(
    fc.property(
      fc
        .array(
          fc.oneof(word, fc.constantFrom('pipeline', 'stage', 'match', 'either', 'all', 'pass', 'rule "x"', '0', '-1')),
          { maxLength: 30 },
        )
        .map((words) => `pipeline "p" ${words.join(' ')}`),
      (source) => places(source, () => void parsePipeline(source)),
    ),
    { seed: 9, numRuns: 2_000 },
  );
});

const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atom,
    fc
      .tuple(tie('expression'), fc.constantFrom('&&', '||', 'and', 'OR'), tie('expression'))
      .map(([left, sign, right]) => `(${left} ${sign} ${right})`),
    tie('expression').map((inner) => `not (${inner})`),
  ),
}));

t.test('every expression of what is supported compiles', async () => {
  fc.assert(
    fc.property(expression, (condition) => {
      const { when } = translateRule(`rule "e" when ${condition} then drop_message(); end`, known);
      const result = compileRules({
        files: [{ name: 'e.yaml', text: JSON.stringify({ rules: [{ id: 'e', when, then: [{ drop: true }] }] }) }],
      });
      if ('problems' in result) throw new Error(`${condition}: ${JSON.stringify(when)} ${result.problems[0]?.message}`);
    }),
    { seed: 10, numRuns: 300 },
  );
});

t.test('time grows with the text and no faster', async (t) => {
  const hostile = [
    '/*',
    '//',
    '"',
    '\\',
    '((((',
    '`',
    '0x',
    '1_',
    'a.',
    '!',
    '-',
    'a[',
    '{a:',
    '/* */',
    '&&',
    'not ',
    "'",
  ];
  for (const part of hostile)
    t.ok(
      places(
        `rule "x" when ${part.repeat(Math.floor(19_000 / part.length))}`,
        () => void translateRule(`rule "x" when ${part.repeat(Math.floor(19_000 / part.length))}`, known),
      ),
      part,
    );
});
