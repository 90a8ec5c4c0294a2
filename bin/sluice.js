#!/usr/bin/env node
import { existsSync } from 'node:fs';

const program = new URL('../build/cli.js', import.meta.url);
if (existsSync(program)) await import(program.href);
else {
  process.stderr.write('sluice: not built yet. Run `npm run build` (or `npm start`) in the project folder first.\n');
  process.exitCode = 2;
}
