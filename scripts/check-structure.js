/** The layout's rules: no import circles (type imports count), no stage imports another, no file over 500 lines, one median of about 100. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(file));
const text = new Map(listed.map((file) => [file, readFileSync(file, 'utf8')]));
const sources = listed.filter((file) => !file.startsWith('test/') && !file.startsWith('bench/'));
const importPattern = /(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g;

function importsOf(file) {
  return [...text.get(file).matchAll(importPattern)]
    .map((match) => normalize(join(dirname(file), match[1])).replace(/\.js$/, '.ts'))
    .filter((target) => text.has(target));
}
const edges = new Map(sources.map((file) => [file, importsOf(file)]));
const problems = [];

/** Stages know only themselves; who may look into whom is listed with its reason. */
const stages = ['receivers', 'rules', 'sinks', 'search', 'access', 'api', 'tracing', 'proxy'];
const allowed = {
  api: ['search', 'access'], // the API is where queries and permissions meet requests
  tracing: ['search', 'receivers'], // spans are received and searched like logs
  proxy: ['access'],
};
const stageOf = (file) => stages.find((stage) => file.startsWith(`${stage}/`));
for (const [file, targets] of edges) {
  const from = stageOf(file);
  for (const target of targets) {
    const to = stageOf(target);
    if (from !== undefined && to !== undefined && from !== to && !(allowed[from] ?? []).includes(to))
      problems.push(`${file} imports ${target}: only pipeline/ and program/ join stages`);
    if (file.startsWith('schemas/') && !target.startsWith('schemas/'))
      problems.push(`${file} imports ${target}: schemas/ holds shapes only`);
    if (file.startsWith('core/') && !target.startsWith('core/'))
      problems.push(`${file} imports ${target}: core/ knows no stage`);
    if (/^test\/|^bench\//.test(target))
      problems.push(`${file} imports ${target}: the product does not need its tests`);
  }
}

const state = new Map();
const path = [];
function visit(file) {
  if (state.get(file) === 'done') return;
  if (state.get(file) === 'open') {
    problems.push(`import circle: ${[...path.slice(path.indexOf(file)), file].join(' -> ')}`);
    return;
  }
  state.set(file, 'open');
  path.push(file);
  for (const target of edges.get(file) ?? []) if (edges.has(target)) visit(target);
  path.pop();
  state.set(file, 'done');
}
sources.forEach(visit);

const lines = listed.map((file) => [file, text.get(file).split('\n').length]);
for (const [file, count] of lines) if (count > 500) problems.push(`${file} has ${count} lines; 500 are allowed`);
const sizes = lines
  .filter(([file]) => sources.includes(file))
  .map(([, count]) => count)
  .sort((a, b) => a - b);
const median = sizes[Math.floor(sizes.length / 2)] ?? 0;
if (median > 120) problems.push(`the median source file has ${median} lines; 120 are allowed`);

for (const problem of problems) process.stderr.write(`structure: ${problem}\n`);
process.stdout.write(
  `structure: ${sources.length} source files, median ${median} lines, ${problems.length} problems\n`,
);
process.exitCode = problems.length > 0 ? 1 : 0;
