import fc from 'fast-check';
import t from 'tap';
import { createThrottle, type Throttle } from '../../access/authentication/throttle.js';
import { isSluiceError } from '../../core/errors.js';
import { codeOf, createTestAccess, password } from './support.js';

/** A throttle over a clock that the test moves. */
function createWorld(random: () => number = () => 0.5) {
  let time = 1_000_000;
  const timers = new Set<{ at: number; run: () => void }>();
  const throttle = createThrottle({
    now: () => time,
    random,
    timer: (run, milliseconds) => {
      const timer = { at: time + milliseconds, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  });
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  const advance = async (milliseconds: number): Promise<void> => {
    const end = time + milliseconds;
    for (;;) {
      const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      timers.delete(next);
      time = Math.max(time, next.at);
      next.run();
      await settle();
    }
    time = end;
    await settle();
  };
  return { throttle, advance, settle, now: () => time };
}

type Outcome = 'right' | 'wrong' | 'refused';

/** Begins an attempt; what became of it stands in the list when it is known. */
function begin(throttle: Throttle, account: string, address: string, right: boolean, outcomes: Outcome[]): void {
  void throttle.attempt(account, address).then(
    (attempt) => {
      if (right) attempt.succeeded();
      else attempt.failed();
      outcomes.push(right ? 'right' : 'wrong');
    },
    (error: unknown) => {
      if (!isSluiceError(error) || error.code !== 'ACCESS_THROTTLED') throw error;
      outcomes.push('refused');
    },
  );
}

await t.test('a few typing errors cost no wait, more of them ever more', async (test) => {
  const { throttle, advance, settle } = createWorld();
  const outcomes: Outcome[] = [];
  for (let attempt = 0; attempt < 5; attempt += 1) {
    begin(throttle, 'alice', '10.0.0.1', false, outcomes);
    await settle();
  }
  test.equal(outcomes.length, 5, 'five without a wait');
  begin(throttle, 'alice', '10.0.0.1', true, outcomes);
  await settle();
  test.equal(outcomes.length, 5, 'the sixth waits');
  await advance(2_000);
  test.same(outcomes.slice(5), ['right'], 'and is let in without being sent again');
  begin(throttle, 'alice', '10.0.0.1', false, outcomes);
  await settle();
  test.equal(outcomes.length, 7, 'a right one clears what was counted');
});

await t.test(
  'a quarter of an hour of guessing from one address gets dozens of attempts, not thousands',
  async (test) => {
    const { throttle, advance, settle } = createWorld(Math.random);
    const outcomes: Outcome[] = [];
    for (let second = 0; second < 900; second += 1) {
      for (let guess = 0; guess < 20; guess += 1) begin(throttle, 'admin', '10.6.6.6', false, outcomes);
      await advance(1_000);
    }
    await settle();
    const tried = outcomes.filter((outcome) => outcome === 'wrong').length;
    test.ok(tried < 80, `${tried} of 18,000 were tried`);
    test.ok(throttle.waiting() <= 16, 'those that wait are bounded');
  },
);

await t.test('an attack from many addresses does not slow down the owner at a known one', async (test) => {
  const { throttle, advance, settle } = createWorld(Math.random);
  const own: Outcome[] = [];
  const theirs: Outcome[] = [];
  begin(throttle, 'admin', '192.168.1.5', true, own);
  await settle();
  for (let second = 0; second < 600; second += 1) {
    for (let guess = 0; guess < 30; guess += 1)
      begin(throttle, 'admin', `10.${second % 256}.${guess}.${Math.floor(second / 256)}`, false, theirs);
    if (second % 60 === 30) {
      begin(throttle, 'admin', '192.168.1.5', true, own);
      await settle();
      test.equal(own.length, Math.floor(second / 60) + 2, 'at once');
    }
    await advance(1_000);
  }
  test.same(new Set(own), new Set(['right']));
  const tried = theirs.filter((outcome) => outcome === 'wrong').length;
  test.ok(tried < 120, `${tried} of 18,000 guesses were tried`);
});

await t.test(
  'an owner behind the address of the attacker still gets in: waiting attempts are drawn by lot',
  async (test) => {
    let seed = 7;
    const random = (): number => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const { throttle, advance } = createWorld(random);
    const theirs: Outcome[] = [];
    for (let second = 0; second < 300; second += 1) {
      for (let guess = 0; guess < 5; guess += 1) begin(throttle, 'admin', '10.0.0.1', false, theirs);
      await advance(1_000);
    }
    const own: Outcome[] = [];
    let minutes = 0;
    while (!own.includes('right') && minutes < 240) {
      for (let attempt = 0; attempt < 6; attempt += 1) {
        begin(throttle, 'admin', '10.0.0.1', true, own);
        for (let guess = 0; guess < 50; guess += 1) begin(throttle, 'admin', '10.0.0.1', false, theirs);
        await advance(10_000);
      }
      minutes += 1;
    }
    test.ok(own.includes('right'), `after ${minutes} minutes under attack from the same address`);
  },
);

await t.test('a flood from one address neither displaces nor outruns the owner at another, new one', async (test) => {
  const { throttle, advance } = createWorld(Math.random);
  const theirs: Outcome[] = [];
  for (let address = 0; address < 60; address += 1) begin(throttle, 'admin', `10.1.0.${address}`, false, theirs);
  await advance(1_000);
  const own: Outcome[] = [];
  let attempts = 0;
  while (!own.includes('right') && attempts < 20) {
    begin(throttle, 'admin', '192.168.7.7', true, own);
    attempts += 1;
    for (let second = 0; second < 10; second += 1) {
      for (let guess = 0; guess < 100; guess += 1) begin(throttle, 'admin', '10.6.6.6', false, theirs);
      await advance(1_000);
    }
  }
  test.ok(own.includes('right'), `after ${attempts} attempts, each waiting for at most ten seconds`);
});

await t.test('attempts at the same time count as wrong ones until they are known', async (test) => {
  const { throttle, settle } = createWorld();
  let begun = 0;
  for (let attempt = 0; attempt < 100; attempt += 1)
    void throttle.attempt('admin', '10.0.0.1').then(
      () => {
        begun += 1;
      },
      () => undefined,
    );
  await settle();
  test.ok(begun <= 5, `${begun} at once`);
});

await t.test('one IPv6 network is one place, and a mapped IPv4 address the same as the plain one', async (test) => {
  const { throttle, settle } = createWorld();
  const outcomes: Outcome[] = [];
  for (let host = 1; host <= 20; host += 1) {
    begin(throttle, 'admin', `2001:db8::${host.toString(16)}`, false, outcomes);
    await settle();
  }
  test.equal(outcomes.length, 5);
  for (let attempt = 0; attempt < 10; attempt += 1) {
    begin(throttle, 'bob', attempt % 2 === 0 ? '10.0.0.1' : '::ffff:10.0.0.1', false, outcomes);
    await settle();
  }
  test.equal(outcomes.length, 10);
});

await t.test('whatever comes, every attempt is answered and the tables stay bounded', async (test) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(5), fc.nat(5), fc.boolean(), fc.nat(3_000)), { maxLength: 300 }),
      async (attempts) => {
        const { throttle, advance } = createWorld();
        const outcomes: Outcome[] = [];
        for (const [account, address, right, pauseMs] of attempts) {
          begin(throttle, `user${account}`, `10.0.0.${address}`, right, outcomes);
          if (pauseMs > 2_000) await advance(pauseMs);
          if (throttle.waiting() > 256) return false;
        }
        await advance(60_000);
        return outcomes.length === attempts.length && throttle.waiting() === 0;
      },
    ),
    { seed: 6, numRuns: 50 },
  );
  test.pass('50 runs');
});

await t.test(
  'access refuses guesses with the time to wait, for names that exist and names that do not',
  async (test) => {
    let time = Date.now();
    const throttle = createThrottle({
      now: () => time,
      timer: (run) => {
        setImmediate(run);
        return () => undefined;
      },
    });
    const access = await createTestAccess(test, { throttle, now: () => time });
    for (const name of ['admin', 'nobody']) {
      const codes: string[] = [];
      for (let guess = 0; guess < 7; guess += 1)
        codes.push(await codeOf(access.authenticate(password(name, `wrong-${guess}`), { address: '10.9.9.9' })));
      test.same(
        codes,
        [...Array.from({ length: 5 }, () => 'ACCESS_DENIED'), 'ACCESS_THROTTLED', 'ACCESS_THROTTLED'],
        name,
      );
      const refused = await access
        .authenticate(password(name, 'wrong'), { address: '10.9.9.9' })
        .catch((error: unknown) => error as { retryAfterMs?: number });
      test.ok(((refused as { retryAfterMs?: number }).retryAfterMs ?? 0) >= 1_000);
    }
    time += 60_000;
    test.ok(
      (await access.authenticate(password('admin', 'admin-secret'), { address: '10.9.9.9' })).administrator,
      'later, the right one is let in',
    );
  },
);
