import t from 'tap';
import { createSemaphore } from '../../core/semaphore.js';

/** A work that runs until it is told to end. */
function openWork(): { readonly work: () => Promise<string>; readonly end: () => void; readonly begun: () => boolean } {
  let begun = false;
  let end = (): void => undefined;
  const ended = new Promise<string>((resolve) => {
    end = () => resolve('done');
  });
  const work = (): Promise<string> => {
    begun = true;
    return ended;
  };
  return { work, end: () => end(), begun: () => begun };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('a free place is taken at once, the others wait in order', async (t) => {
  const semaphore = createSemaphore(2);
  const works = [openWork(), openWork(), openWork(), openWork()];
  const results = works.map(({ work }) => semaphore.run(work));
  t.equal(semaphore.waiting(), 2, 'counted before the first works begin');
  await settled();
  t.strictSame(
    works.map(({ begun }) => begun()),
    [true, true, false, false],
  );
  t.equal(semaphore.waiting(), 2);
  works[1]?.end();
  await settled();
  t.strictSame(
    works.map(({ begun }) => begun()),
    [true, true, true, false],
  );
  for (const { end } of works) end();
  t.strictSame(await Promise.all(results), ['done', 'done', 'done', 'done']);
  t.equal(semaphore.waiting(), 0);
});

t.test('a work that fails gives its place back', async (t) => {
  const semaphore = createSemaphore(1);
  await t.rejects(
    semaphore.run(() => Promise.reject(new Error('broken'))),
    /broken/,
  );
  t.equal(await semaphore.run(() => Promise.resolve('next')), 'next');
});

t.test('who gives up while waiting is told at once, and the place goes to the next', async (t) => {
  const semaphore = createSemaphore(1);
  const [first, second, third] = [openWork(), openWork(), openWork()];
  const giveUp = new AbortController();
  const running = semaphore.run(first.work);
  const waiting = semaphore.run(second.work, giveUp.signal);
  const last = semaphore.run(third.work, new AbortController().signal);
  giveUp.abort(new Error('no longer'));
  await t.rejects(waiting, /no longer/);
  third.end();
  first.end();
  t.equal(await running, 'done');
  t.equal(await last, 'done');
  t.notOk(second.begun());
  await t.rejects(semaphore.run(second.work, AbortSignal.abort(new Error('before'))), /before/);
  t.notOk(second.begun());
});

t.test('an abort does not end a work that has begun', async (t) => {
  const semaphore = createSemaphore(1);
  const giveUp = new AbortController();
  const running = openWork();
  const result = semaphore.run(running.work, giveUp.signal);
  await settled();
  giveUp.abort(new Error('too late'));
  running.end();
  t.equal(await result, 'done');
});
