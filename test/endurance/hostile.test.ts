/** The short form of `npm run hostile`. */
import t from 'tap';
import { complaints, runHostile, summary } from './hostile.js';

const seed = Number(process.env['SLUICE_HOSTILE_SEED'] ?? Date.now() % 1_000_000);

t.test(`honest senders lose nothing and are not held up beside hostile ones (seed ${seed})`, { timeout: 120_000 }, async (t) => {
  const report = await runHostile(t, { aloneMs: 2_500, attackMs: 9_000, seed, print: (line) => { t.comment(line); } });
  t.comment(summary(report));
  t.same(complaints(report), []);
});
