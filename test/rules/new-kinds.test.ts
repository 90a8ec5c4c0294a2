/** A new action or condition is a file of its own and one entry of the registry: nothing else names its kind. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { packageRoot } from '../../core/process/package-root.js';
import type { compileRules } from '../../rules/compile/compile.js';
import type { rulesReference } from '../../rules/language/reference.js';

const build = join(import.meta.dirname, '..', '..');

/** A copy of the compiled rules that a test may add to. */
function copyRules(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-rules-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(build, 'rules'), join(folder, 'rules'), { recursive: true });
  for (const name of ['core', 'schemas']) symlinkSync(join(build, name), join(folder, name));
  symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  return folder;
}

function add(folder: string, kind: 'actions' | 'conditions', name: string, text: string): void {
  writeFileSync(join(folder, 'rules', kind, `${name}.js`), text);
  const registry = join(folder, 'rules', kind, 'registry.js');
  const before = readFileSync(registry, 'utf8');
  const list = `export const ${kind} = [`;
  if (!before.includes(list)) throw new Error(`the registry of ${kind} has no list`);
  writeFileSync(registry, `import { ${name} } from './${name}.js';\n${before.replace(list, `${list}\n    ${name},`)}`);
}

const shout = `
import { Type } from 'typebox';
import { defineAction } from './define.js';
export const shout = defineAction({
  name: 'shout',
  description: 'Writes a field in capitals.',
  schema: Type.Object({ field: Type.String() }, { additionalProperties: false, description: 'Write in capitals.' }),
  example: { then: [{ shout: { field: 'a' } }], before: { a: 'x' }, after: { a: 'X' } },
  build: ({ field }) => ({
    text: 'shout ' + field,
    run: (target) => target.set(field, String(target.document[field]).toUpperCase()),
  }),
});
`;

const even = `
import { Type } from 'typebox';
import { fieldReader } from '../fields.js';
import { defineCondition } from './define.js';
export const even = defineCondition({
  name: 'even',
  description: 'The field is an even number.',
  takesField: true,
  schema: Type.Literal(true, { description: 'Always true.' }),
  example: { when: { field: 'n', even: true }, matches: { n: 2 }, misses: { n: 3 } },
  build: (_value, { field }) => {
    const read = fieldReader(field);
    return { text: field + ' is even', field, children: [], requirements: [], test: (document) => read(document) % 2 === 0 };
  },
});
`;

t.test('an action and a condition are added', async (t) => {
  const folder = copyRules(t);
  add(folder, 'actions', 'shout', shout);
  add(folder, 'conditions', 'even', even);
  const load = (path: string): Promise<unknown> => import(pathToFileURL(join(folder, 'rules', path)).href);
  const compiler = (await load('compile/compile.js')) as { readonly compileRules: typeof compileRules };
  const text = 'rules: [{id: r, when: {field: n, even: true}, then: [{shout: {field: a}}]}]';
  const compiled = compiler.compileRules({ files: [{ name: 'a.yaml', text }] });
  if ('problems' in compiled) throw new Error(JSON.stringify(compiled.problems));
  const run = (n: number): unknown => {
    const document = { n, a: 'quiet' };
    compiled.ruleSet.apply(document, { messageId: '1', receiver: 'r' });
    return document.a;
  };
  t.same([run(1), run(2)], ['quiet', 'QUIET']);
  const mistaken = compiler.compileRules({
    files: [{ name: 'a.yaml', text: 'rules: [{id: r, when: {field: n, even: 5}, then: [{shout: {feild: a}}]}]' }],
  });
  t.match(mistaken, { problems: [{ path: 'rules[0].when.even' }, {}] }, 'its schema checks rule files');
  const { rulesReference: reference } = (await load('language/reference.js')) as {
    readonly rulesReference: typeof rulesReference;
  };
  t.match(reference(), /Writes a field in capitals\.[^]*|The field is an even number/);
});
