/**
 * The short form of the rows about destinations of outputs, on the embedded engines.
 * `npm run faults -- --rows output-down-20` and the others run more.
 */
import t from 'tap';
import { testRows } from './short-form.js';

const seed = Number(process.env['SLUICE_FAULT_SEED'] ?? Date.now() % 1_000_000);

t.test(
  `destinations that are down or reset their connections miss nothing afterwards (seed ${seed})`,
  { timeout: 240_000 },
  (t) => testRows(t, { set: 'embedded', names: ['output-down', 'output-reset'], rounds: 1, awayMs: 1_500, seed }),
);
