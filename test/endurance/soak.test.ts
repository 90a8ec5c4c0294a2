/**
 * The short form of `npm run soak`: a few seconds, too short for slopes, and beside other tests, so that latencies say
 * nothing. `SLUICE_SOAK_MS=60000` makes it a minute.
 */
import t from 'tap';
import { runSoak, soakLimits, summary } from './soak.js';

const forMs = Number(process.env['SLUICE_SOAK_MS'] ?? 10_000);

t.test('a steady load is stored as it comes, and nothing grows', { timeout: 120_000 + 2 * forMs }, async (t) => {
  const report = await runSoak(t, {
    forMs,
    share: 0.7,
    ceilingMs: 1_000,
    sampleMs: 2_000,
    limits: { ...soakLimits, residentPerHour: undefined, heapPerHour: undefined, lagSeconds: 60, p99Ms: 30_000 },
    rate: 3_000,
    print: (line) => {
      t.comment(line);
    },
  });
  t.comment(summary(report));
  t.same(report.problems, []);
});
