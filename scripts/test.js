/**
 * Runs the tests in build/test with tap; arguments (files, --grep) pass through. Starts the engines that tests need, on
 * free ports, unless SLUICE_TEST_KAFKA and SLUICE_TEST_OPENSEARCH name running ones. The last line is always 'N passed,
 * N failed'.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createReadStream, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { missingForEngines, startEngines } from '../build/test/engines.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = mkdtempSync(join(tmpdir(), 'sluice-tests-'));
const names = { kafka: 'SLUICE_TEST_KAFKA', opensearch: 'SLUICE_TEST_OPENSEARCH' };
let running;
let child;
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    interrupted = true;
    child?.kill(signal);
  });
}

async function provideEngines() {
  const wanted = Object.keys(names).filter((engine) => !process.env[names[engine]]);
  if (wanted.length === 0) return;
  let reason = missingForEngines();
  if (reason === undefined) {
    console.log(`Starting ${wanted.join(' and ')} for the tests (the first time fetches them).`);
    try {
      running = await startEngines({ home: join(folder, 'engines'), engines: wanted });
      if (wanted.includes('kafka')) process.env[names.kafka] = running.kafka.join(',');
      if (wanted.includes('opensearch')) process.env[names.opensearch] = running.opensearch;
    } catch (error) {
      reason = String(error.stderr ?? error)
        .trim()
        .split('\n')
        .at(-1);
    }
  }
  if (reason !== undefined) console.log(`Left out: the tests that need ${wanted.join(' or ')}: ${reason}.`);
}

/**
 * A clean checkout has tap without the plugin choice of .taprc: built once, it starts each test file in half the time.
 */
function buildTap(tap) {
  if (existsSync(join(root, '.tap', 'plugins-built'))) return;
  mkdirSync(join(root, '.tap'), { recursive: true });
  const { status } = spawnSync(process.execPath, [tap, 'build'], { cwd: root, stdio: 'ignore' });
  if (status === 0) writeFileSync(join(root, '.tap', 'plugins-built'), '');
}

function runTap(output) {
  const tap = join(dirname(createRequire(import.meta.url).resolve('tap/package.json')), 'dist/esm/run.mjs');
  buildTap(tap);
  child = spawn(
    process.execPath,
    [tap, `--output-file=${output}`, ...(process.stdout.isTTY ? [] : ['--reporter=terse']), ...process.argv.slice(2)],
    { cwd: root, stdio: 'inherit' },
  );
  return new Promise((resolve) =>
    child.on('close', (code, signal) => {
      if (signal !== null) console.log(`The test runner ended with ${signal}.`);
      resolve(code ?? 1);
    }),
  );
}

/** Lines of a failure's diagnosis that are shown at the end; the whole is further up or in the reporter's output. */
const shownLines = 25;

/**
 * Counts assertions in TAP: a point that closes a deeper level is the sum of a subtest and not one itself. Each 'not
 * ok' that is not only a failed child's sum is kept with the file it stands in and its diagnosis; a file that ended
 * without one (a crash, a time limit) is kept itself.
 */
async function count(file) {
  const counts = { passed: 0, failed: 0, failures: [] };
  if (!existsSync(file)) return counts;
  let deepest = 0;
  let current;
  let test = '';
  let failedInFile = 0;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const top = /^# Subtest: (.*)$/.exec(line);
    if (top !== null) {
      test = top[1];
      failedInFile = 0;
    }
    const point = /^( *)(not )?ok\b(.*)$/.exec(line);
    if (point === null) {
      if (current !== undefined && current.length <= shownLines && line.trim() !== '') current.push(line.slice(0, 400));
      continue;
    }
    const depth = point[1].length;
    const isSum = deepest > depth;
    deepest = depth;
    current = undefined;
    if (/ # (SKIP|TODO)\b/i.test(point[3])) continue;
    if (point[2] !== undefined && (!isSum || failedInFile === 0)) {
      current = [`${test}: not ok${point[3]}`];
      counts.failures.push(current);
      failedInFile += 1;
    }
    if (isSum) continue;
    counts[point[2] === undefined ? 'passed' : 'failed'] += 1;
  }
  return counts;
}

let status = 1;
let counts = { passed: 0, failed: 0, failures: [] };
try {
  await provideEngines();
  const output = join(folder, 'output.tap');
  if (!interrupted) status = await runTap(output);
  counts = await count(output);
} finally {
  await running?.stop();
  rmSync(folder, { recursive: true, force: true });
}
if (status !== 0 && counts.failed === 0) {
  counts.failed = 1;
  console.log(`The test runner ended with exit code ${status} though no point failed.`);
}
for (const failure of counts.failures.slice(0, 20)) console.log(`${failure.join('\n')}\n`);
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0;
