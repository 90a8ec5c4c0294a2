/**
 * Makes `npx sluice` find this checkout's own command without installing anything: npx looks into node_modules/.bin, as
 * long as package.json has no `bin` of that name (then it would install the package into a cache of its own, and run
 * the install scripts again).
 */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules', '.bin');
try {
  mkdirSync(folder, { recursive: true });
  rmSync(join(folder, 'sluice'), { force: true });
  symlinkSync(join('..', '..', 'bin', 'sluice.js'), join(folder, 'sluice'));
} catch (error) {
  console.warn(`npx sluice will not work here (${error.message}); use node bin/sluice.js`);
}
