import t from 'tap';
import { createPasswords } from '../../access/authentication/passwords.js';
import { createSweeper } from '../../access/stored/sweeper.js';
import { createPeople } from '../../access/rights/people.js';
import { createSecrets } from '../../access/stored/secrets.js';
import { readSession, readToken } from '../../access/stored/records.js';
import { silentLog } from '../../core/log.js';
import { codeOf, createTestState } from './support.js';

await t.test('a flood of passwords does not keep out those who logged in here before', async (test) => {
  const passwords = createPasswords({ concurrency: 1, minimumLength: 6 });
  const stored = await passwords.hash('a-secret');
  const flood = Array.from({ length: 100 }, (_, guess) => codeOf(passwords.verify(undefined, `guess-${guess}`)));
  let done = 0;
  for (const guess of flood)
    void guess.then(() => {
      done += 1;
    });
  const refusedSoFar = 100 - 65;
  test.equal(await passwords.verify(stored, 'a-secret', true), true);
  test.ok(done <= refusedSoFar + 3, `${done} of the flood were answered before`);
  const codes = await Promise.all(flood);
  test.same([...new Set(codes)].sort(), ['ACCESS_BUSY', 'none'], 'what waits is bounded');
});

await t.test('letters count as the same however they were typed', async (test) => {
  const passwords = createPasswords({ concurrency: 1, minimumLength: 6 });
  test.ok(await passwords.verify(await passwords.hash('caf\u00e9-secret'), 'cafe\u0301-secret'));
});

await t.test('ended sessions and tokens are removed, and those of users who are gone', async (test) => {
  const state = await createTestState(test);
  const time = Date.now();
  const common = { state, log: silentLog, now: () => time };
  const people = createPeople({ state, log: silentLog, streams: () => [] });
  await people.start();
  test.teardown(() => people.stop());
  const sessions = createSecrets({
    ...common,
    read: readSession,
    prefix: 'sessions/',
    encode: (random) => random.toString('hex'),
  });
  const tokens = createSecrets({
    ...common,
    read: readToken,
    prefix: 'tokens/',
    encode: (random) => random.toString('hex'),
  });
  const session = { user_id: 'a'.repeat(24), generation: 1, created_at: 0, address: '' };
  await sessions.create({ ...session, used_at: time - 1_000 });
  const live = await sessions.create({ ...session, used_at: time - 999 });
  await tokens.create({ id: '1', user_id: 'gone', name: 'of nobody', created_at: 0 });
  const sweeper = createSweeper({ sessions, tokens, people, defaultTimeoutMs: 1_000, log: silentLog, now: () => time });
  await sweeper.sweep();
  test.equal((await sessions.list()).length, 1);
  test.ok(await sessions.find(live));
  test.same(await tokens.list(), []);
  await sweeper.stop();
});
