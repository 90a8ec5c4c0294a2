import t from 'tap';
import { compiled, problemsOf, rulesText, shippedFiles, sourceOf } from '../support.js';
import { compileRules } from '../../../rules/compile/compile.js';

t.test('roles of rule files name streams and capabilities', async (t) => {
  const ruleSet = rulesText(
    'streams: [{id: shop}]\nroles:\n  - {id: Shop team, description: who runs it, read: [system-logs], edit: [shop], capabilities: [views:edit]}\n  - {id: everything, read: all}\n  - {id: nothing}',
  );
  t.same(ruleSet.roles, [
    {
      id: 'Shop team',
      description: 'who runs it',
      read: ['system-logs'],
      edit: ['shop'],
      capabilities: ['views:edit'],
      file: '0.yaml',
    },
    { id: 'everything', description: '', read: 'all', edit: [], capabilities: [], file: '0.yaml' },
    { id: 'nothing', description: '', read: [], edit: [], capabilities: [], file: '0.yaml' },
  ]);
  t.same(compiled({}).roles, [], 'none ships in a file');
});

t.test('a later file changes what it names of a role, and the version of the rules', async (t) => {
  const first = 'roles: [{id: team, read: [system-logs], capabilities: [views:edit]}]';
  const changed = rulesText(first, 'roles: [{id: team, read: [application-logs]}]');
  t.match(changed.roles, [{ id: 'team', read: ['application-logs'], capabilities: ['views:edit'] }]);
  t.not(rulesText(first).version, changed.version);
});

const mistakes: readonly (readonly [
  title: string,
  text: string,
  place: readonly [number, number, string],
  message: RegExp,
  suggestion?: string,
])[] = [
  [
    'a stream that is not there',
    'streams: [{id: shop}]\nroles:\n  - id: a\n    read:\n      - shopp',
    [5, 9, 'roles[0].read[0]'],
    /no stream of this id/,
    'shop',
  ],
  [
    'a stream to edit that is not there',
    'roles: [{id: a, edit: [nowhere]}]',
    [1, 24, 'roles[0].edit[0]'],
    /no stream of this id/,
  ],
  [
    'Audit logs',
    'streams: [{id: audit-logs}]\nroles: [{id: a, read: [audit-logs]}]',
    [2, 24, 'roles[0].read[0]'],
    /opens Audit logs/,
  ],
  [
    'a capability that is none',
    'roles: [{id: a, capabilities: [views:edti]}]',
    [1, 32, 'roles[0].capabilities[0]'],
    /none of those allowed/,
    'views:edit',
  ],
  [
    'a capability of administrators',
    'roles: [{id: a, capabilities: [dead-letters]}]',
    [1, 32, 'roles[0].capabilities[0]'],
    /none of those allowed/,
  ],
  ['the name of one that ships', 'roles: [{id: administrator, read: all}]', [1, 14, 'roles[0].id'], /ships/],
  ['a name in another case', 'roles: [{id: Team}, {id: TEAM}]', [1, 26, 'roles[1].id'], /in any case/],
  ['a name twice', 'roles: [{id: team}, {id: team}]', [1, 26, 'roles[1].id'], /twice/],
  ['a name that cannot be one', "roles: [{id: 'a:b'}]", [1, 14, 'roles[0].id'], /no name of a role/],
  ['a key that means nothing', 'roles: [{id: a, reads: all}]', [1, 17, 'roles[0].reads'], /means nothing/, 'read'],
  ['editing all', 'roles: [{id: a, edit: all}]', [1, 23, 'roles[0].edit'], /type array/],
  ['no list and not all', 'roles: [{id: a, read: some}]', [1, 23, 'roles[0].read'], /another kind/],
];

for (const [title, text, [line, column, path], message, suggestion] of mistakes) {
  t.test(`${title}: the place and the reason`, async (t) => {
    const [problem] = problemsOf(text);
    t.same([problem?.line, problem?.column, problem?.path], [line, column, path]);
    t.match(problem?.message, message);
    if (suggestion !== undefined) t.equal(problem?.suggestion, suggestion);
  });
}

t.test('a role of one file may name a stream of another', async (t) => {
  const result = compileRules({
    files: [...shippedFiles(), ...sourceOf('roles: [{id: a, read: [later]}]', 'streams: [{id: later}]').files],
  });
  t.ok('ruleSet' in result);
});
