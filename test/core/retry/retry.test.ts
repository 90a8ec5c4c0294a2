import t from 'tap';
import { defineErrors } from '../../../core/errors.js';
import { createBackOff, retry } from '../../../core/retry/retry.js';

const errors = defineErrors({
  TEST_AWAY: { retryable: true, summary: 'The engine is away.' },
  TEST_WRONG: { retryable: false, summary: 'The request is wrong.' },
});
const quick = { firstMs: 1, longestMs: 2 };

/** Fails with these errors, one after the other, then answers. */
function failing(...failures: readonly Error[]): { readonly attempt: () => Promise<string>; attempts: number } {
  const calls = {
    attempts: 0,
    attempt: async () => {
      calls.attempts += 1;
      const failure = failures[calls.attempts - 1];
      if (failure !== undefined) throw failure;
      return 'done';
    },
  };
  return calls;
}

t.test('delays double up to the longest, with up to a quarter of jitter', (t) => {
  const next = createBackOff(100, 400);
  for (const least of [100, 200, 400, 400]) {
    const delay = next();
    t.ok(delay >= least && delay <= least * 1.25, `${delay} for ${least}`);
  }
  t.end();
});

t.test('retryable errors are repeated, others are final', async (t) => {
  const away = failing(errors.create('TEST_AWAY'), errors.create('TEST_AWAY'));
  const told: unknown[] = [];
  t.equal(await retry(away.attempt, { ...quick, onRetry: (thrown) => told.push(thrown) }), 'done');
  t.equal(told.length, 2);
  const wrong = failing(errors.create('TEST_AWAY'), errors.create('TEST_WRONG'));
  await t.rejects(retry(wrong.attempt, quick), { code: 'TEST_WRONG' });
  t.equal(wrong.attempts, 2);
  await t.rejects(retry(failing(new TypeError('a bug')).attempt, quick), /a bug/);
});

t.test('the caller decides what is repeated, and may throw an error of its own', async (t) => {
  const bug = failing(new TypeError('a bug'));
  t.equal(await retry(bug.attempt, { ...quick, shouldRetry: () => true }), 'done');
  const shouldRetry = (): boolean => {
    throw errors.create('TEST_WRONG');
  };
  await t.rejects(retry(failing(new Error('x')).attempt, { ...quick, shouldRetry }), { code: 'TEST_WRONG' });
});

t.test('the time limit ends the repetitions', async (t) => {
  const endless = (): Promise<never> => Promise.reject(errors.create('TEST_AWAY'));
  await t.rejects(retry(endless, { ...quick, withinMs: 20 }), { code: 'TEST_AWAY' });
});

t.test('an abort cuts the delay short; the attempt after it is the last', async (t) => {
  const stopping = new AbortController();
  let attempts = 0;
  const endless = (): Promise<never> => {
    attempts += 1;
    return Promise.reject(errors.create('TEST_AWAY'));
  };
  const options = { firstMs: 60_000, longestMs: 60_000, signal: stopping.signal };
  const given = retry(endless, { ...options, onRetry: () => setImmediate(() => stopping.abort()) });
  await t.rejects(given, { code: 'TEST_AWAY' });
  t.equal(attempts, 2);
});
