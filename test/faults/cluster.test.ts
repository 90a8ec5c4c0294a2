/**
 * The short form of the fault table on a Kafka and an OpenSearch of its own. `npm run faults -- --engines cluster` runs
 * all of it.
 */
import t from 'tap';
import { skipWithoutEngines } from '../engines.js';
import { testRows } from './short-form.js';

const seed = Number(process.env['SLUICE_FAULT_SEED'] ?? Date.now() % 1_000_000);

t.test(
  `faults on Kafka and OpenSearch lose and double nothing (seed ${seed})`,
  { ...skipWithoutEngines(), timeout: 480_000 },
  (t) =>
    testRows(t, {
      set: 'cluster',
      names: ['kill-processor', 'kafka-kill', 'opensearch-kill'],
      rounds: 1,
      awayMs: 3_000,
      seed,
    }),
);
