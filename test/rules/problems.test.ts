import t from 'tap';
import fc from 'fast-check';
import { compileRules } from '../../rules/compile/compile.js';
import { didYouMean, formatProblem } from '../../rules/problems.js';
import { parsePeriod, parseSize } from '../../rules/compile/index-sets.js';
import { problemsOf, shippedFiles, sourceOf } from './support.js';

interface Expected {
  readonly title: string;
  readonly text: string;
  readonly at: readonly [line: number, column: number];
  readonly path: string;
  readonly message: RegExp;
  readonly suggestion?: string;
}

const mistakes: readonly Expected[] = [
  {
    title: 'an unknown key at the top',
    text: 'rule: []',
    at: [1, 1],
    path: 'rule',
    message: /means nothing/,
    suggestion: 'rules',
  },
  {
    title: 'an unknown condition',
    text: 'rules:\n  - id: a\n    when: {field: tag, contain: x}\n    then: [{drop: true}]',
    at: [3, 24],
    path: 'rules[0].when.contain',
    message: /means nothing/,
    suggestion: 'contains',
  },
  {
    title: 'an unknown action',
    text: 'rules:\n  - id: a\n    when: {always: true}\n    then:\n      - rout: {stream: s}',
    at: [5, 9],
    path: 'rules[0].then[0].rout',
    message: /means nothing/,
    suggestion: 'route',
  },
  {
    title: 'two actions in one item',
    text: 'rules: [{id: a, when: {always: true}, then: [{drop: true, sample: {keep: 1}}]}]',
    at: [1, 46],
    path: 'rules[0].then[0]',
    message: /Exactly one/,
  },
  {
    title: 'an unknown option of an action',
    text: 'rules: [{id: a, when: {always: true}, then: [{set: {field: x, valeu: 1, value: 2}}]}]',
    at: [1, 63],
    path: 'rules[0].then[0].set.valeu',
    message: /means nothing/,
    suggestion: 'value',
  },
  {
    title: 'a value that is none of those allowed',
    text: 'index_sets: [{id: ab, rotation: {type: sise, max_size: 1}}]',
    at: [1, 40],
    path: 'index_sets[0].rotation.type',
    message: /none of those/,
    suggestion: 'size',
  },
  {
    title: 'a number where text belongs',
    text: 'streams: [{id: s, title: 5}]',
    at: [1, 26],
    path: 'streams[0].title',
    message: /type string/,
  },
  {
    title: 'a missing key',
    text: 'streams: [{title: x}]',
    at: [1, 11],
    path: 'streams[0]',
    message: /`id` is missing/,
  },
  {
    title: 'a condition without a field',
    text: 'rules: [{id: a, when: {equals: x}, then: [{drop: true}]}]',
    at: [1, 23],
    path: 'rules[0].when',
    message: /needs `field`/,
  },
  {
    title: 'a condition that tests two things',
    text: 'rules: [{id: a, when: {field: b, greater: 1, less: 5}, then: [{drop: true}]}]',
    at: [1, 23],
    path: 'rules[0].when',
    message: /one thing/,
  },
  {
    title: 'a condition that tests nothing',
    text: 'rules: [{id: a, when: {field: b}, then: [{drop: true}]}]',
    at: [1, 23],
    path: 'rules[0].when',
    message: /nothing to test/,
  },
  {
    title: 'a broken pattern',
    text: "rules:\n  - id: a\n    when:\n      any:\n        - {field: b, regex: 'a(b'}\n    then: [{drop: true}]",
    at: [5, 29],
    path: 'rules[0].when.any[0].regex',
    message: /missing closing/,
  },
  {
    title: 'look-around',
    text: "rules: [{id: a, when: {field: b, regex: '(?=b)'}, then: [{drop: true}]}]",
    at: [1, 41],
    path: 'rules[0].when.regex',
    message: /cannot be compiled/,
  },
  {
    title: 'a stream that is not there',
    text: 'streams: [{id: audit}]\nrules: [{id: a, when: {always: true}, then: [{route: {stream: audti}}]}]',
    at: [2, 63],
    path: 'rules[0].then[0].route.stream',
    message: /no stream/,
    suggestion: 'audit',
  },
  {
    title: 'an index set that is not there',
    text: 'streams: [{id: s, index_set: sluice_defualt}]',
    at: [1, 30],
    path: 'streams[0].index_set',
    message: /no index set/,
    suggestion: 'sluice_default',
  },
  {
    title: 'index sets that run into each other',
    text: 'index_sets: [{id: app}, {id: app_x}]',
    at: [1, 19],
    path: 'index_sets[0].id',
    message: /followed by/,
  },
  {
    title: 'a size that is none',
    text: 'index_sets: [{id: ab, rotation: {type: size, max_size: 5 QB}}]',
    at: [1, 56],
    path: 'index_sets[0].rotation.max_size',
    message: /no size/,
  },
  {
    title: 'a rotation without its bound',
    text: 'index_sets: [{id: ab, rotation: {type: count}}]',
    at: [1, 33],
    path: 'index_sets[0].rotation',
    message: /needs `max_documents`/,
  },
  {
    title: 'a duration that is none',
    text: 'index_sets: [{id: ab, rotation: {type: time, period: 1d}}]',
    at: [1, 54],
    path: 'index_sets[0].rotation.period',
    message: /no duration/,
  },
  {
    title: 'retention without a bound',
    text: 'index_sets: [{id: ab, retention: {type: delete}}]',
    at: [1, 34],
    path: 'index_sets[0].retention',
    message: /needs a bound/,
  },
  {
    title: 'an id twice in one file',
    text: 'streams: [{id: s}, {id: s}]',
    at: [1, 25],
    path: 'streams[1].id',
    message: /twice/,
  },
  { title: 'a key twice', text: 'rules:\n  - id: a\n    id: b', at: [3, 5], path: '', message: /twice/ },
  { title: 'no YAML', text: 'rules: [', at: [1, 9], path: '', message: /no YAML/ },
  {
    title: 'an own field',
    text: 'rules: [{id: a, when: {always: true}, then: [{set: {field: receive_time, value: x}}]}]',
    at: [1, 60],
    path: 'rules[0].then[0].set.field',
    message: /cannot write/,
  },
  {
    title: 'the time of the message',
    text: 'rules: [{id: a, when: {always: true}, then: [{remove: {fields: [timestamp]}}]}]',
    at: [1, 65],
    path: 'rules[0].then[0].remove.fields[0]',
    message: /cannot write/,
  },
  {
    title: 'an unknown named pattern',
    text: "rules: [{id: a, when: {always: true}, then: [{grok: {field: m, pattern: '%{NUMBR:n}'}}]}]",
    at: [1, 73],
    path: 'rules[0].then[0].grok.pattern',
    message: /no named pattern/,
    suggestion: 'NUMBER',
  },
  {
    title: 'named patterns in a circle',
    text: "rules: [{id: a, when: {always: true}, then: [{grok: {field: m, pattern: '%{A:n}', patterns: {A: 'x%{B}', B: '%{A}'}}}]}]",
    at: [1, 73],
    path: 'rules[0].then[0].grok.pattern',
    message: /circle/,
  },
  {
    title: 'a time zone that is none',
    text: 'rules: [{id: a, when: {always: true}, then: [{date: {field: d, timezone: Mars/One}}]}]',
    at: [1, 74],
    path: 'rules[0].then[0].date.timezone',
    message: /time zone/,
  },
  {
    title: 'a network that is none',
    text: 'rules: [{id: a, when: {field: a, cidr: [10.0.0.0/8, 10.0.0.300]}, then: [{drop: true}]}]',
    at: [1, 53],
    path: 'rules[0].when.cidr[1]',
    message: /no network/,
  },
  {
    title: 'a rule that changes none',
    text: 'rules: [{id: a, when: {always: true}, then: [{drop: true}]}, {id: aa, enabled: false}]',
    at: [1, 62],
    path: 'rules[1]',
    message: /neither/,
    suggestion: 'a',
  },
  {
    title: 'a stream rule without a number',
    text: 'streams: [{id: s, rules: [{type: greater, field: f, value: x}]}]',
    at: [1, 60],
    path: 'streams[0].rules[0].value',
    message: /Only numbers/,
  },
  {
    title: 'an obfuscated stream that is not there',
    text: 'obfuscation: {streams: [nope]}',
    at: [1, 25],
    path: 'obfuscation.streams[0]',
    message: /no stream/,
  },
];

for (const { title, text, at, path, message, suggestion } of mistakes) {
  t.test(`${title} is told with its place`, async (t) => {
    const problems = problemsOf(text);
    const [problem] = problems;
    t.equal(problems.length, 1, problems.map(formatProblem).join(' | '));
    t.same([problem?.file, problem?.line, problem?.column, problem?.path], ['0.yaml', ...at, path]);
    t.match(problem?.message, message);
    t.equal(problem?.suggestion, suggestion);
  });
}

t.test('one line says it all', async (t) => {
  const [problem] = problemsOf('streams: [{id: s, matching_type: ADN}]');
  t.equal(
    problem === undefined ? '' : formatProblem(problem),
    '0.yaml:1:34 streams[0].matching_type: The value is none of those allowed. Got "ADN". Allowed: AND, OR. Did you mean AND?',
  );
});

t.test('mistakes of several files come together, in order', async (t) => {
  const problems = problemsOf(
    'streams: [{id: a, index_set: x}]',
    'rules: [{id: r, when: {always: true}, then: [{route: {stream: b}}]}]',
  );
  t.same(
    problems.map((problem) => problem.file),
    ['0.yaml', '1.yaml'],
  );
});

t.test('sizes and durations', async (t) => {
  t.same(['20 GB', '1GiB', '1.5 kB', '7 b', 12].map(parseSize), [20e9, 2 ** 30, 1500, 7, 12]);
  t.same(['', 'GB', '-1 GB', '0 B', '5 QB'].map(parseSize), [undefined, undefined, undefined, undefined, undefined]);
  t.same(['P1D', 'PT1H', 'P1M15D', 'P1Y', 'P2W', 'PT90S'].map(parsePeriod), [
    86_400_000,
    3_600_000,
    45 * 86_400_000,
    365 * 86_400_000,
    14 * 86_400_000,
    90_000,
  ]);
  t.same(['', 'P', 'PT', '1D', 'P0D'].map(parsePeriod), [undefined, undefined, undefined, undefined, undefined]);
});

t.test('nearest words', async (t) => {
  t.equal(didYouMean('contians', ['contains', 'container']), 'contains');
  t.equal(didYouMean('x', ['contains']), undefined);
});

t.test('any text is compiled or refused, never thrown at', async () => {
  const shippedText = shippedFiles()
    .map((file) => file.text)
    .join('\n');
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), fc.nat(shippedText.length), fc.nat(400), (noise, start, length) => {
      compileRules(sourceOf(noise));
      compileRules(sourceOf(shippedText.slice(start, start + length) + noise));
    }),
    { numRuns: 300, seed: 11 },
  );
});
