import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { stringify } from 'yaml';
import { problemLines } from '../../config/problem.js';
import type { SettingSchema } from '../../config/schema.js';
import { settings } from '../../program/settings.js';

const seed = 20261121;
const folder = mkdtempSync(join(tmpdir(), 'sluice-config-fuzz-'));
const file = join(folder, 'sluice.yaml');
t.teardown(() => rmSync(folder, { recursive: true }));

function namesOf(schema: SettingSchema): string[] {
  const below = [
    ...Object.entries(schema.properties ?? {}),
    ...Object.values(schema.items?.variants ?? {}).flatMap((variant) => Object.entries(variant.properties ?? {})),
  ];
  return below.flatMap(([name, one]) => [name, ...namesOf(one)]);
}
const names = [...new Set(namesOf(settings.schema))];

const scalar = fc.oneof(
  fc.constantFrom<unknown>(
    'kafka',
    'embedded',
    'gelf_tcp',
    'gelf_udp',
    'x',
    '',
    '64 MiB',
    'file:none',
    'env:NONE',
    true,
    false,
    null,
    0,
    1,
    -1,
    1.5,
    1e30,
  ),
  fc.string({ maxLength: 5 }),
  fc.integer(),
);
const { value } = fc.letrec<{ value: unknown; mapping: unknown; list: unknown }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, scalar, tie('mapping'), tie('list')),
  mapping: fc.dictionary(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...names) },
      { weight: 1, arbitrary: fc.string({ maxLength: 4 }) },
    ),
    tie('value'),
    { maxKeys: 4 },
  ),
  list: fc.array(tie('value'), { maxLength: 3 }),
}));
const variable = fc
  .array(fc.oneof(fc.constantFrom(...names), fc.constantFrom('0', '1', '7', '', '__proto__', 'constructor')), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => `SLUICE_${parts.join('__').toUpperCase()}`);

t.test('any settings are taken or told, each problem with a place, and never throw', async (t) => {
  let valid = 0;
  fc.assert(
    fc.property(
      value,
      fc.dictionary(variable, fc.oneof(scalar.map(String), fc.json({ maxDepth: 2 })), { maxKeys: 3 }),
      (given, environment) => {
        writeFileSync(file, stringify(given));
        const { loaded, problems } = settings.read({ file, environment });
        if (loaded !== undefined) valid += 1;
        return (
          (loaded === undefined) === problems.length > 0 &&
          problemLines(problems).every((line) => !line.includes('undefined')) &&
          problems.every((problem) => problem.place !== '')
        );
      },
    ),
    { seed, numRuns: 500 },
  );
  t.ok(valid > 3, `${valid} were valid`);
  t.equal(({} as Record<string, unknown>)['x'], undefined, 'Object.prototype is as it was');
});

t.test('any text is taken or told', async () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom(
          'a',
          ':',
          ' ',
          '\n',
          '-',
          '[',
          ']',
          '{',
          '}',
          '&',
          '*',
          '!',
          '"',
          "'",
          '#',
          '|',
          '>',
          '%',
          '\t',
          '1',
          'topics',
        ),
      }),
      (text) => {
        writeFileSync(file, text);
        const { loaded, problems } = settings.read({ file, environment: {} });
        return loaded !== undefined || problems.every((problem) => /sluice\.yaml:\d+:\d+/.test(problem.place));
      },
    ),
    { seed, numRuns: 500 },
  );
});
