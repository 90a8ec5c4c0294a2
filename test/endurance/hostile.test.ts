/**
 * The short form of `npm run hostile`: what must hold at any speed. Latencies are printed and not compared here, since
 * nine seconds beside other tests on the same cores measure those tests; the command compares them.
 */
import t from 'tap';
import { complaints, runHostile, summary } from './hostile.js';

const seed = Number(process.env['SLUICE_HOSTILE_SEED'] ?? Date.now() % 1_000_000);

t.test(
  `honest senders lose nothing beside hostile ones, and every count adds up (seed ${seed})`,
  { timeout: 240_000 },
  async (t) => {
    const report = await runHostile(t, {
      aloneMs: 2_500,
      attackMs: 9_000,
      seed,
      print: (line) => {
        t.comment(line);
      },
    });
    t.comment(summary(report));
    t.same(complaints(report, false), []);
  },
);
