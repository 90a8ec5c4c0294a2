/**
 * Holds the sources to the rules of scripts/structure/rules.js: sizes, layout, exports, names.
 * `check-structure.js [folder] [--only=<rule>]`. One rule alone prints its warnings and details, too.
 */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { checkTree } from './structure/check.js';

const { values, positionals } = parseArgs({ options: { only: { type: 'string' } }, allowPositionals: true });
const [root = dirname(dirname(fileURLToPath(import.meta.url)))] = positionals;

let failures = 0;
for (const { name, problems, warnings, figures, details } of checkTree(root, values.only)) {
  failures += problems.length;
  for (const problem of problems) process.stderr.write(`structure: ${name}: ${problem}\n`);
  if (values.only !== undefined) for (const line of [...warnings, ...details]) process.stdout.write(`${line}\n`);
  for (const figure of figures) process.stdout.write(`structure: ${figure}\n`);
}
process.stdout.write(`structure: ${failures} problems\n`);
process.exitCode = failures > 0 ? 1 : 0;
