import t from 'tap';
import { withinDeadline } from '../../../core/time/deadline.js';

t.test('tells whether the work ended in time, well or not', async (t) => {
  t.equal(await withinDeadline(Promise.resolve('done'), 10_000), true);
  t.equal(await withinDeadline(Promise.reject(new Error('broken')), 10_000), true);
  t.equal(await withinDeadline(new Promise(() => undefined), 1), false);
});

t.test('a work that fails after the deadline is nobody’s unhandled rejection', async (t) => {
  let fail: ((error: Error) => void) | undefined;
  const work = new Promise((_, reject) => {
    fail = reject;
  });
  t.equal(await withinDeadline(work, 1), false);
  fail?.(new Error('late'));
  await new Promise((resolve) => setImmediate(resolve));
});
