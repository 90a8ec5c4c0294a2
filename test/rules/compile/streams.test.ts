import t from 'tap';
import type { LogDocument } from '../../../schemas/messages.js';
import { compiled, problemsOf, run } from '../support.js';

/** value: undefined stands for a missing field. */
type Row = readonly [rule: Record<string, unknown>, value: LogDocument[string] | undefined, matches: boolean];

const rows: readonly Row[] = [
  [{ type: 'exact', value: 'x' }, ' x ', true],
  [{ type: 'exact', value: 'x' }, 'X', false],
  [{ type: 'exact', value: 'x' }, undefined, false],
  [{ type: 'exact', value: 'x', inverted: true }, 'x', false],
  [{ type: 'exact', value: 'x', inverted: true }, 'y', true],
  [{ type: 'exact', value: 'x', inverted: true }, undefined, true],
  [{ type: 'exact', value: 5 }, 5, true],
  [{ type: 'regex', value: 'b.d' }, 'ab\ndc', true],
  [{ type: 'regex', value: '^b' }, 'ab', false],
  [{ type: 'regex', value: 'b' }, undefined, false],
  [{ type: 'regex', value: 'b', inverted: true }, 'b', false],
  [{ type: 'regex', value: 'b', inverted: true }, undefined, true],
  [{ type: 'greater', value: '5' }, 6, true],
  [{ type: 'greater', value: 5 }, '6', true],
  [{ type: 'greater', value: 5 }, 5, false],
  [{ type: 'greater', value: 5 }, undefined, false],
  [{ type: 'greater', value: 5 }, 'six', false],
  [{ type: 'greater', value: 5, inverted: true }, 5, true],
  [{ type: 'greater', value: 5, inverted: true }, 6, false],
  [{ type: 'greater', value: 5, inverted: true }, undefined, false],
  [{ type: 'greater', value: 5, inverted: true }, 'six', false],
  [{ type: 'smaller', value: 5 }, 4, true],
  [{ type: 'smaller', value: 5 }, 5, false],
  [{ type: 'smaller', value: 5 }, undefined, false],
  [{ type: 'smaller', value: 5, inverted: true }, 5, true],
  [{ type: 'smaller', value: 5, inverted: true }, 4, false],
  [{ type: 'smaller', value: 5, inverted: true }, undefined, false],
  [{ type: 'presence' }, 'x', true],
  [{ type: 'presence' }, 0, true],
  [{ type: 'presence' }, ' ', false],
  [{ type: 'presence' }, undefined, false],
  [{ type: 'presence', inverted: true }, 'x', false],
  [{ type: 'presence', inverted: true }, ' ', true],
  [{ type: 'presence', inverted: true }, undefined, true],
  [{ type: 'contains', value: 'b' }, 'abc', true],
  [{ type: 'contains', value: 'B' }, 'abc', false],
  [{ type: 'contains', value: 'b' }, undefined, false],
  [{ type: 'contains', value: 'b', inverted: true }, 'abc', false],
  [{ type: 'contains', value: 'b', inverted: true }, undefined, true],
];

t.test('stream rules follow the truth table', async (t) => {
  for (const [rule, value, matches] of rows) {
    const ruleSet = compiled({ streams: [{ id: 's', rules: [{ field: 'f', ...rule }] }] });
    const { routing } = run(ruleSet, value === undefined ? { g: 1 } : { f: value });
    t.equal(routing.streams.includes('s'), matches, `${JSON.stringify(rule)} on ${JSON.stringify(value)}`);
  }
});

t.test('rules of type always and input', async (t) => {
  const ruleSet = compiled({
    streams: [
      { id: 'always', rules: [{ type: 'always' }] },
      { id: 'never', rules: [{ type: 'always', inverted: true }] },
      { id: 'udp', rules: [{ type: 'input', value: 'GELF-UDP' }] },
      { id: 'not-udp', rules: [{ type: 'input', value: 'gelf-udp', inverted: true }] },
    ],
  });
  t.same(run(ruleSet, {}, 'gelf-udp').routing.streams, ['all-messages', 'always', 'udp']);
  t.same(run(ruleSet, {}, 'gelf-tcp').routing.streams, ['all-messages', 'always', 'not-udp']);
});

t.test('matching_type: AND is the default, a stream without rules never matches', async (t) => {
  const rules = [
    { type: 'exact', field: 'a', value: 1 },
    { type: 'exact', field: 'b', value: 2 },
  ];
  const ruleSet = compiled({
    streams: [
      { id: 'and', rules },
      { id: 'or', rules, matching_type: 'OR' },
      { id: 'empty', rules: [] },
      { id: 'empty-or', rules: [], matching_type: 'OR' },
      { id: 'bare' },
    ],
  });
  t.same(run(ruleSet, { a: 1 }).routing.streams, ['all-messages', 'or']);
  t.same(run(ruleSet, { a: 1, b: 2 }).routing.streams, ['all-messages', 'and', 'or']);
});

t.test('a message is always somewhere, and each index set is named once', async (t) => {
  const when = (value: number) => ({ field: 'n', equals: value });
  const ruleSet = compiled({
    index_sets: [{ id: 'sluice_default' }, { id: 'other' }],
    streams: [
      { id: 'keeps', when: { field: 'n', exists: true } },
      { id: 'within', only_within_default_stream: true, when: { field: 'n', exists: true } },
      { id: 'removes', index_set: 'other', remove_matches_from_default_stream: true, when: when(1) },
      { id: 'off', enabled: false, remove_matches_from_default_stream: true, when: when(2) },
    ],
  });
  t.same(run(ruleSet, { n: 1 }).routing, {
    streams: ['keeps', 'removes'],
    indexSets: ['other', 'sluice_default'],
    dropped: false,
  });
  t.same(run(ruleSet, { n: 2 }).routing, {
    streams: ['all-messages', 'keeps', 'within'],
    indexSets: ['sluice_default'],
    dropped: false,
  });
  t.same(run(ruleSet, {}).routing, { streams: ['all-messages'], indexSets: ['sluice_default'], dropped: false });
  t.same(
    compiled({}).indexSets.map((set) => set.id),
    ['sluice_default'],
    'even with no rule file at all',
  );
});

t.test('All messages cannot be switched off', async (t) => {
  t.match(problemsOf('streams: [{id: all-messages, enabled: false}]'), [{ message: /cannot be switched off/ }]);
});
