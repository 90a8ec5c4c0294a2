/** `npm run test:fast`: the files of fast-tests.js, each in a process of its own, without the runner of tap. */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fastTests } from './fast-tests.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const started = performance.now();
const waiting = fastTests(root);
const count = waiting.length;
let failed = 0;

function run(file) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--enable-source-maps', file], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.on('close', (code) => {
      if (code !== 0) {
        failed += 1;
        console.log(`${output.trim()}\n${file} failed\n`);
      }
      resolve();
    });
  });
}

async function worker() {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) await run(file);
}

await Promise.all(Array.from({ length: availableParallelism() }, worker));
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(`${count - failed} files passed, ${failed} failed, in ${seconds} s`);
process.exitCode = failed > 0 || count === 0 ? 1 : 0;
