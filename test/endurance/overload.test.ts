/**
 * The short form of `npm run overload`; the time to full speed is printed and not judged, since other tests run beside
 * it.
 */
import t from 'tap';
import { complaints, runOverload, summary } from './overload.js';

t.test(
  'three times the ceiling: every datagram is counted, TCP holds its senders back, memory is bounded',
  { timeout: 180_000 },
  async (t) => {
    const report = await runOverload(t, {
      ceilingMs: 1_000,
      overloadMs: 3_000,
      times: 3,
      print: (line) => {
        t.comment(line);
      },
    });
    t.comment(summary(report));
    t.same(complaints(report, false), []);
  },
);
