/** The short form of the fault table on the embedded engines. `npm run faults -- --engines embedded` runs all of it. */
import t from 'tap';
import { testRows } from './short-form.js';

const seed = Number(process.env['SLUICE_FAULT_SEED'] ?? Date.now() % 1_000_000);

t.test(`faults on the embedded engines lose and double nothing (seed ${seed})`, { timeout: 240_000 }, (t) =>
  testRows(t, { set: 'embedded', names: ['kill-all-in-one', 'rule-reload'], rounds: 3, awayMs: 3_000, seed }),
);
