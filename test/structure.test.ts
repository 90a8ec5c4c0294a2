import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { packageRoot } from '../core/process/package-root.js';

type Tree = Readonly<Record<string, string>>;
interface Verdict {
  readonly name: string;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  readonly figures: readonly string[];
}

const script = join(packageRoot, 'scripts/structure/check.js');
const { checkTree } = (await import(pathToFileURL(script).href)) as {
  checkTree: (root: string, only?: string) => readonly Verdict[];
};

/** A small program that keeps every rule. */
const clean: Tree = {
  'cli.ts': "import { start } from './program/sluice.js';\n\nstart();\n",
  'program/sluice.ts':
    "import { receive } from '../pipeline/consume/receive.js';\nimport { topics } from '../topics/registry.js';\n\n" +
    'export const start = (): number => receive(topics.length);\n',
  'pipeline/consume/receive.ts':
    "import type { TopicLog } from '../../topics/contract.js';\nimport { parked } from '../parking/parked.js';\n\n" +
    "export const receive = (at: TopicLog['end']): number => at + parked;\n",
  'pipeline/parking/parked.ts': 'export const parked = 1;\n',
  'topics/contract.ts': 'export interface TopicLog {\n  readonly end: number;\n}\n',
  'topics/registry.ts': "export const topics = ['embedded'];\n",
  'rules/sample.ts': '/** Applies rules. */\nvoid 0;\n',
  'test/rules/sample.test.ts': "import '../../rules/sample.js';\n",
};

const lines = (count: number, line: string): string => `${line}\n`.repeat(count);
const longFunction = (inner: number): string => `function long(): void {\n${lines(inner, '  void 0;')}}\nlong();\n`;
const filesIn = (folder: string, count: number): Tree =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${folder}/file-${at}.ts`, 'void 0;\n']));

/** What is changed in the clean program, the rule that this breaks, and its message. */
const broken: readonly { readonly rule: string; readonly title: string; readonly tree: Tree; readonly says: RegExp }[] =
  [
    {
      rule: 'file-size',
      title: 'a file over 500 lines',
      tree: { 'rules/long.ts': lines(501, 'void 0;') },
      says: /rules\/long\.ts has 501 lines; 500 are allowed/,
    },
    {
      rule: 'file-size',
      title: 'a test over 500 lines',
      tree: { 'test/rules/long.test.ts': lines(501, 'void 0;') },
      says: /test\/rules\/long\.test\.ts has 501 lines/,
    },
    {
      rule: 'file-size',
      title: 'a median over 110 lines',
      tree: Object.fromEntries(Object.keys(filesIn('rules', 15)).map((path) => [path, lines(111, 'void 0;')])),
      says: /the median of the files is 111 lines; 110 are allowed/,
    },
    {
      rule: 'file-size',
      title: 'a twentieth of the files over 260 lines',
      tree: { 'rules/long.ts': lines(261, 'void 0;') },
      says: /the p95 of the files is 261 lines; 260 are allowed/,
    },
    {
      rule: 'function-size',
      title: 'a function over 90 lines',
      tree: { 'rules/long.ts': longFunction(89) },
      says: /rules\/long\.ts:1 long has 91 lines; 90 are allowed/,
    },
    {
      rule: 'function-size',
      title: 'a closure over 90 lines',
      tree: { 'rules/long.ts': `const made = [(): void => {\n${lines(90, '  void 0;')}}];\nvoid made;\n` },
      says: /rules\/long\.ts:1 a function has 92 lines/,
    },
    {
      rule: 'function-size',
      title: 'a twentieth of the functions over 40 lines',
      tree: { 'rules/long.ts': longFunction(39) },
      says: /the p95 of the functions is 41 lines; 40 are allowed/,
    },
    {
      rule: 'parameters',
      title: 'five parameters',
      tree: { 'rules/many.ts': 'void ((a: 1, b: 1, c: 1, d: 1, e: 1) => [a, b, c, d, e]);\n' },
      says: /rules\/many\.ts:1 a function takes 5 parameters; 4 are allowed/,
    },
    {
      rule: 'folder-size',
      title: '21 files in a folder',
      tree: filesIn('rules/actions', 21),
      says: /rules\/actions\/ has 21 files; 20 are allowed/,
    },
    {
      rule: 'folder-size',
      title: '21 files in a folder of tests',
      tree: filesIn('test/rules/actions', 21),
      says: /test\/rules\/actions\/ has 21 files/,
    },
    {
      rule: 'line-length',
      title: 'a long comment',
      tree: { 'rules/wide.ts': `// ${'word '.repeat(24)}\n` },
      says: /rules\/wide\.ts:1 is 123 wide; 120 are allowed/,
    },
    {
      rule: 'line-length',
      title: 'a long comment behind code',
      tree: { 'rules/wide.ts': `void 0; // ${'word '.repeat(24)}\n` },
      says: /rules\/wide\.ts:1 is 131 wide/,
    },
    {
      rule: 'line-length',
      title: 'long code beside a short literal',
      tree: { 'rules/wide.ts': `void ['short', ${'0, '.repeat(40)}];\n` },
      says: /rules\/wide\.ts:1 is 137 wide/,
    },
    {
      rule: 'import-circles',
      title: 'a circle of types',
      tree: {
        'rules/a.ts': "import type { B } from './b.js';\n\nexport type A = B[];\n",
        'rules/b.ts': "import type { A } from './a.js';\n\nexport type B = A[];\n",
      },
      says: /import circle: rules\/a\.ts -> rules\/b\.ts -> rules\/a\.ts/,
    },
    {
      rule: 'layout',
      title: 'a stage that imports another',
      tree: { 'sinks/write.ts': "import '../rules/sample.js';\n" },
      says: /sinks\/write\.ts:1 imports rules\/sample\.ts: stages do not import each other/,
    },
    {
      rule: 'layout',
      title: 'a stage that imports the contract of another',
      tree: {
        'sinks/write.ts':
          "import type { TopicLog } from '../topics/contract.js';\n\nvoid (0 as unknown as TopicLog);\n",
      },
      says: /stages do not import each other/,
    },
    {
      rule: 'layout',
      title: 'core that imports a stage',
      tree: { 'core/errors.ts': "import '../rules/sample.js';\n" },
      says: /core\/ may not import rules\//,
    },
    {
      rule: 'layout',
      title: 'schemas that import core',
      tree: { 'core/errors.ts': 'void 0;\n', 'schemas/query.ts': "import '../core/errors.js';\n" },
      says: /schemas\/ may not import core\//,
    },
    {
      rule: 'layout',
      title: 'an API that imports the program',
      tree: {
        'api/server.ts': "import type { start } from '../program/sluice.js';\n\nvoid (0 as unknown as typeof start);\n",
      },
      says: /api\/ may not import program\//,
    },
    {
      rule: 'layout',
      title: 'an API that imports more than a contract',
      tree: { 'api/server.ts': "import '../rules/sample.js';\n" },
      says: /api\/ may import the contract of rules\/ only/,
    },
    {
      rule: 'layout',
      title: 'a type that is imported in place',
      tree: { 'api/server.ts': "void (0 as unknown as import('../rules/sample.js').Engine);\n" },
      says: /api\/ may import the contract of rules\/ only/,
    },
    {
      rule: 'layout',
      title: 'a product that imports its tests',
      tree: { 'rules/tested.ts': "import '../test/rules/sample.test.js';\n" },
      says: /the product does not need its tests/,
    },
    {
      rule: 'layout',
      title: 'a folder that the layout does not know',
      tree: { 'helpers/text.ts': "import '../rules/sample.js';\n" },
      says: /helpers\/ has no line in scripts\/structure\/layout\.js/,
    },
    {
      rule: 'registries',
      title: 'a registry that another folder sees',
      tree: { 'pipeline/choose.ts': "import { topics } from '../topics/registry.js';\n\nvoid topics;\n" },
      says: /pipeline\/choose\.ts:1 imports topics\/registry\.ts: only program\/ sees the registry of a port/,
    },
    {
      rule: 'pipeline-order',
      title: 'an arrow back inside the pipeline',
      tree: { 'pipeline/parking/parked.ts': "import '../consume/receive.js';\n\nexport const parked = 1;\n" },
      says: /pipeline\/parking\/parked\.ts:1 imports pipeline\/consume\/receive\.ts: pipeline\/parking\/ comes before pipeline\/consume\//,
    },
    {
      rule: 'pipeline-order',
      title: 'a folder of the pipeline without a place in the order',
      tree: { 'pipeline/new/new.ts': 'void 0;\n' },
      says: /pipeline\/new\/ has no place in the order/,
    },
    {
      rule: 'borrowed-types',
      title: 'a type worked out from a function of another folder',
      tree: {
        'cli/run.ts':
          "import { start } from '../program/sluice.js';\n\nvoid (0 as unknown as ReturnType<typeof start>);\n",
      },
      says: /cli\/run\.ts:3 takes ReturnType<typeof start> of program\/sluice\.ts/,
    },
    {
      rule: 'borrowed-types',
      title: 'a type worked out from a member of a contract',
      tree: {
        'pipeline/end.ts':
          "import type { TopicLog } from '../topics/contract.js';\n\nvoid (0 as unknown as Parameters<TopicLog['end']>);\n",
      },
      says: /takes Parameters<TopicLog\['end'\]> of topics\/contract\.ts/,
    },
    {
      rule: 'unused-exports',
      title: 'an export that nobody imports',
      tree: { 'rules/sample.ts': 'export const engine = 1;\nexport type Engine = typeof engine;\n' },
      says: /rules\/sample\.ts:1 exports engine, which nobody imports/,
    },
    {
      rule: 'default-exports',
      title: 'a default export',
      tree: { 'rules/sample.ts': 'export default 1;\n' },
      says: /rules\/sample\.ts:1 has a default export: named exports only/,
    },
    {
      rule: 'default-exports',
      title: 'a default export of a function',
      tree: { 'rules/sample.ts': 'export default function engine(): void {}\n' },
      says: /rules\/sample\.ts:1 has a default export/,
    },
    ...['log.info("started");', 'parts.log.warn({}, "late");', 'this.#log.error("broken");'].map((line) => ({
      rule: 'log-events',
      title: line,
      tree: { 'rules/sample.ts': `${line}\n` },
      says: /rules\/sample\.ts:1 writes to the log: declare an event in events\.ts/,
    })),
    ...[
      'const process = 1;',
      'function fetch(): void {}',
      'class TypeError {}',
      'interface Request {}',
      'const { URL } = { URL: 1 };',
      'void ((performance: number) => performance);',
      "import { setTimeout } from 'node:timers/promises';",
    ].map((line) => ({
      rule: 'shadowed-globals',
      title: line,
      tree: { 'rules/sample.ts': `${line}\n` },
      says: /rules\/sample\.ts:1 \w+ shadows a global: give it a name of its own/,
    })),
  ];

const folderOf = (t: Test, tree: Tree): string =>
  t.testdir(
    Object.entries(tree).reduce<Record<string, unknown>>((folder, [path, text]) => {
      const names = path.split('/');
      const file = names.pop() ?? '';
      let at = folder;
      for (const name of names) at = (at[name] ??= {}) as Record<string, unknown>;
      at[file] = text;
      return folder;
    }, {}) as Parameters<typeof t.testdir>[0],
  );

const problemsOf = (root: string, rule?: string): readonly string[] =>
  checkTree(root, rule).flatMap(({ problems }) => problems);

t.test('a clean program has no problem', (t) => {
  t.strictSame(problemsOf(folderOf(t, clean)), []);
  t.end();
});

for (const { rule, title, tree, says } of broken)
  t.test(`${rule}: ${title}`, (t) => {
    const problems = problemsOf(folderOf(t, { ...clean, ...tree }), rule);
    t.ok(
      problems.some((problem) => says.test(problem)),
      `${problems.join('\n')} should say ${String(says)}`,
    );
    t.end();
  });

t.test('every rule that can fail is broken above', (t) => {
  const names = checkTree(folderOf(t, clean)).map(({ name }) => name);
  const counted = ['duplicates']; // printed, no limit
  t.strictSame([...new Set(broken.map(({ rule }) => rule)), ...counted].sort(), names.toSorted());
  t.end();
});

t.test('what the rules allow', (t) => {
  const literal = 'x'.repeat(130);
  const problems = problemsOf(
    folderOf(t, {
      ...clean,
      'rules/literals.ts': `void '${literal}';\nvoid \`${literal}\`;\nvoid /${literal}/;\n`,
      'rules/platform.ts': "import { performance } from 'node:perf_hooks';\n\nvoid performance;\n",
      'rules/members.ts': 'void { process: 1, fetch: (): void => {} };\n',
      'rules/own.ts': 'const own = (): number => 1;\nvoid (0 as unknown as ReturnType<typeof own>);\n',
      'test/rules/long-function.test.ts': longFunction(120),
    }),
  );
  t.strictSame(problems, []);
  t.end();
});

t.test('an export that only tests import is a warning', (t) => {
  const root = folderOf(t, {
    ...clean,
    'rules/sample.ts': 'export const engine = 1;\n',
    'test/rules/sample.test.ts': "import { engine } from '../../rules/sample.js';\n\nvoid engine;\n",
  });
  const [verdict] = checkTree(root, 'unused-exports');
  t.strictSame(verdict?.problems, []);
  t.match(verdict?.warnings, [/rules\/sample\.ts:1 exports engine, which only tests import/]);
  t.end();
});

t.test('a passage that stands twice is counted', (t) => {
  const passage = Array.from({ length: 60 }, (_, at) => `void name${at};`).join('\n');
  const root = folderOf(t, {
    ...clean,
    'rules/a.ts': `const a = 1;\n${passage}\n`,
    'rules/b.ts': `let b;\n${passage}\n`,
  });
  const [verdict] = checkTree(root, 'duplicates');
  t.match(verdict?.figures, [/^duplicates: 1 passages of 50 tokens or more, 61 lines$/]);
  t.end();
});

t.test('the command prints the figures, names what is broken and fails', (t) => {
  const command = join(packageRoot, 'scripts/check-structure.js');
  const run = (tree: Tree) => spawnSync(process.execPath, [command, folderOf(t, tree)], { encoding: 'utf8' });
  const good = run(clean);
  t.equal(good.status, 0);
  for (const figure of [
    'files of the product: median',
    'functions of the product',
    'most parameters',
    'most files in a',
  ])
    t.match(good.stdout, figure);
  const bad = run({ ...clean, 'rules/long.ts': lines(501, 'void 0;') });
  t.equal(bad.status, 1);
  t.match(bad.stderr, /structure: file-size: rules\/long\.ts has 501 lines/);
  t.end();
});
