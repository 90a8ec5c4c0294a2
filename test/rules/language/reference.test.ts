/** `npm run docs` writes the generated files anew. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { packageRoot } from '../../../core/process/package-root.js';
import { actions } from '../../../rules/actions/registry.js';
import { conditions } from '../../../rules/conditions/registry.js';
import { ruleFileJsonSchema, rulesReference } from '../../../rules/language/reference.js';
import { compiled, rulesText, run } from '../support.js';

const generated: readonly (readonly [string, string])[] = [
  ['docs/reference/rules.md', rulesReference()],
  ['docs/schemas/rules.schema.json', ruleFileJsonSchema()],
];

for (const [file, text] of generated) {
  t.test(`${file} is what the registries say`, async (t) => {
    const path = join(packageRoot, file);
    t.ok(existsSync(path) && readFileSync(path, 'utf8') === text, '`npm run docs` writes it anew');
  });
}

t.test('the example of every condition holds and misses as it says', async (t) => {
  for (const { name, description, example } of conditions) {
    t.ok(description.length > 10, `${name} has a description`);
    t.equal(holds(example.when, example.matches), true, `${name} holds`);
    if (example.misses !== undefined) t.equal(holds(example.when, example.misses), false, `${name} misses`);
  }
});

t.test('the example of every action does what it says', async (t) => {
  for (const { name, description, example } of actions) {
    t.ok(description.length > 10, `${name} has a description`);
    const ruleSet = compiled({
      rules: [{ id: 'r', when: { always: true }, then: example.then }],
      streams: [{ id: 'audit-logs' }],
      obfuscation: { patterns: [{ id: 'us-ssn', pattern: '\\d{3}-\\d\\d-\\d{4}' }] },
    });
    const { document, routing } = run(ruleSet, example.before);
    if (example.after === undefined) t.equal(routing.dropped, true, `${name} drops`);
    else t.same(document, example.after, `${name} changes`);
    if (example.streams !== undefined)
      for (const stream of example.streams) t.ok(routing.streams.includes(stream), `${name} routes`);
  }
});

t.test('every example in the guide and the shipped files is valid', async (t) => {
  const guide = readFileSync(join(packageRoot, 'docs/rules.md'), 'utf8');
  const blocks = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => match[1] as string);
  t.ok(blocks.length >= 2);
  for (const block of blocks) t.ok(rulesText(block), block.slice(0, 40));
});

function holds(when: unknown, document: Readonly<Record<string, unknown>>): boolean {
  const ruleSet = compiled({ rules: [{ id: 'r', when, then: [{ set: { field: 'hit', value: true } }] }] });
  return run(ruleSet, document as never).document['hit'] === true;
}
