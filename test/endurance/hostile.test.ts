/** The short form of `npm run hostile`. */
import t from 'tap';
import { complaints, latencyCounts, runHostile, summary } from './hostile.js';

const seed = Number(process.env['SLUICE_HOSTILE_SEED'] ?? Date.now() % 1_000_000);

t.test(`honest senders lose nothing and are not held up beside hostile ones (seed ${seed})`, { timeout: 240_000 }, async (t) => {
  const report = await runHostile(t, { aloneMs: 2_500, attackMs: 9_000, seed, print: (line) => { t.comment(line); } });
  t.comment(summary(report));
  const counts = latencyCounts();
  if (!counts) t.comment('latencies are not compared: this machine has more than three times as much to do as it has cores');
  t.same(complaints(report, counts), []);
});
