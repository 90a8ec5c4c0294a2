import t from 'tap';
import { createFairQueue } from '../../../search/run/fair-queue.js';

const never = new AbortController().signal;

t.test('so many run at once, and the waiting take turns by who asks', async (t) => {
  const queue = createFairQueue(2, 100);
  const order: string[] = [];
  const leaving: (() => void)[] = [];
  const enter = (key: string, name: string): Promise<void> =>
    queue.enter(key, never).then((leave) => {
      order.push(name);
      leaving.push(leave);
    });
  await Promise.all([enter('greedy', 'greedy 1'), enter('greedy', 'greedy 2')]);
  const waiting = [
    enter('greedy', 'greedy 3'),
    enter('greedy', 'greedy 4'),
    enter('greedy', 'greedy 5'),
    enter('modest', 'modest 1'),
    enter('late', 'late 1'),
    enter('modest', 'modest 2'),
  ];
  t.equal(queue.running(), 2);
  t.equal(queue.waiting(), 6);
  for (let at = 0; at < 6; at += 1) {
    leaving.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(waiting);
  t.same(order, ['greedy 1', 'greedy 2', 'greedy 3', 'modest 1', 'late 1', 'greedy 4', 'modest 2', 'greedy 5']);
  for (const leave of leaving) leave();
  for (const leave of leaving) leave();
  t.equal(queue.running(), 0, 'leaving twice counts once');
});

t.test('past the bound a search is refused at once, and one that is cancelled makes room', async (t) => {
  const queue = createFairQueue(1, 1);
  const leave = await queue.enter('a', never);
  const cancelling = new AbortController();
  const waiting = queue.enter('a', cancelling.signal);
  await t.rejects(queue.enter('b', never), { code: 'SEARCH_QUEUE_FULL', retryable: true });
  cancelling.abort(new Error('enough'));
  await t.rejects(waiting, { message: 'enough' });
  const next = queue.enter('b', never);
  leave();
  (await next)();
  t.equal(queue.running(), 0);
  await t.rejects(queue.enter('a', AbortSignal.abort(new Error('before'))), { message: 'before' });
});
