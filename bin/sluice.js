#!/usr/bin/env node
import { existsSync } from 'node:fs';

// Each search of the embedded store holds a thread of this pool; the default of 4 leaves too few for files. Before
// anything else, since the pool starts at its first use.
process.env.UV_THREADPOOL_SIZE ??= '8';

const program = new URL('../build/cli.js', import.meta.url);
if (existsSync(program)) await import(program.href);
else {
  process.stderr.write('sluice: not built yet. Run `npm run build` (or `npm start`) in the project folder first.\n');
  process.exitCode = 2;
}
