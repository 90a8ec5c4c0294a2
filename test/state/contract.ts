/** The suite that every state store passes. An adapter's test file calls `testStateStore` with a harness. */
import type { Test } from 'tap';
import type { StateStore } from '../../state/contract.js';

/** Ground for one test: an empty folder, or unique names on a shared engine. Removed at the test's teardown. */
export interface StatePlace {
  /** A started store on this ground; after its stop the next one is a restart. Stopped at teardown. */
  open(): Promise<StateStore>;
  /** A second store on the same ground while the first is open, where the adapter can be shared by processes. */
  openBeside?(): Promise<StateStore>;
}

interface StateHarness {
  readonly name: string;
  createPlace(t: Test): Promise<StatePlace>;
}

const conflict = { code: 'STATE_CONFLICT', retryable: false };

async function waitUntil(what: string, condition: () => boolean, deadlineMs = 10_000): Promise<void> {
  const end = Date.now() + deadlineMs;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`Waited ${deadlineMs} ms in vain for: ${what}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
}

export async function testStateStore(t: Test, harness: StateHarness): Promise<void> {
  const open = async (test: Test) => (await harness.createPlace(test)).open();

  await t.test(`${harness.name}: a value is read back as it was put, whatever JSON it is`, async (test) => {
    const state = await open(test);
    const values = [
      { list: [1, 2.5, null, { deep: 'Grüße' }], empty: {}, text: '"\\\n' },
      [],
      'text',
      42,
      true,
      null,
      { 'a.b': 1, a: { b: 2 } },
    ];
    for (const [index, value] of values.entries()) {
      const put = await state.put(`value/${index}`, value, undefined);
      test.same(put.value, value);
      test.same(await state.get(`value/${index}`), put);
    }
    test.equal(await state.get('value/none'), undefined);
  });

  await t.test(
    `${harness.name}: each put changes the revision, and only the newest revision may be replaced`,
    async (test) => {
      const state = await open(test);
      const first = await state.put('key', 1, undefined);
      const second = await state.put('key', 2, first.revision);
      test.not(second.revision, first.revision);
      await test.rejects(state.put('key', 3, first.revision), conflict);
      await test.rejects(state.put('key', 3, undefined), conflict);
      await test.rejects(state.put('other', 3, second.revision), conflict);
      test.same(await state.get('key'), second);
    },
  );

  await t.test(
    `${harness.name}: an entry is deleted by its revision only; made again it has another one`,
    async (test) => {
      const state = await open(test);
      const first = await state.put('key', 1, undefined);
      await test.rejects(state.delete('key', 'another'), conflict);
      await state.delete('key', first.revision);
      test.equal(await state.get('key'), undefined);
      await test.rejects(state.delete('key', first.revision), conflict);
      const again = await state.put('key', 2, undefined);
      test.not(again.revision, first.revision);
      await test.rejects(state.put('key', 3, first.revision), conflict);
    },
  );

  await t.test(
    `${harness.name}: a list has all entries under the prefix, by key, and every put that resolved before`,
    async (test) => {
      const state = await open(test);
      const keys = ['epoch/2', 'epoch/10', 'epoch/1', 'epochs', 'other/1', 'epoch/1/a', 'epoch/Ä'];
      for (const key of keys) {
        await state.put(key, key, undefined);
        test.ok((await state.list('')).some((entry) => entry.key === key));
      }
      test.same(
        (await state.list('epoch/')).map((entry) => entry.key),
        ['epoch/1', 'epoch/1/a', 'epoch/10', 'epoch/2', 'epoch/Ä'],
      );
      test.equal((await state.list('')).length, keys.length);
      test.same(await state.list('nothing'), []);
      const [entry] = await state.list('other/');
      test.same(entry, await state.get('other/1'));
    },
  );

  await t.test(`${harness.name}: a list is complete when it is long`, async (test) => {
    const state = await open(test);
    const keys = Array.from({ length: 1200 }, (_, index) => `many/${String(index).padStart(5, '0')}`);
    for (let from = 0; from < keys.length; from += 100)
      await Promise.all(keys.slice(from, from + 100).map((key) => state.put(key, key, undefined)));
    test.same(
      (await state.list('many/')).map((entry) => entry.key),
      keys,
    );
  });

  await t.test(`${harness.name}: of concurrent puts exactly one wins`, async (test) => {
    const place = await harness.createPlace(test);
    const state = await place.open();
    const beside = (await place.openBeside?.()) ?? state;
    let revision: string | undefined;
    for (let round = 0; round < 5; round += 1) {
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? state : beside).put('key', `${round}/${index}`, revision),
        ),
      );
      const winners = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      test.equal(winners.length, 1);
      for (const result of results) if (result.status === 'rejected') test.match(result.reason, conflict);
      test.same(await state.get('key'), winners[0]);
      revision = winners[0]?.revision;
    }
  });

  await t.test(`${harness.name}: counting by compare-and-set loses nothing`, async (test) => {
    const place = await harness.createPlace(test);
    const state = await place.open();
    const beside = (await place.openBeside?.()) ?? state;
    const increment = async (store: StateStore): Promise<void> => {
      for (;;) {
        const entry = await store.get('count');
        try {
          await store.put('count', Number(entry?.value ?? 0) + 1, entry?.revision);
          return;
        } catch (thrown) {
          test.match(thrown, conflict);
        }
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, index) => increment(index % 2 === 0 ? state : beside)));
    test.equal((await state.get('count'))?.value, 10);
  });

  await t.test(
    `${harness.name}: what was put is there after a restart, and revisions are not used again`,
    async (test) => {
      const place = await harness.createPlace(test);
      const state = await place.open();
      const kept = await state.put('kept', { a: 1 }, undefined);
      const gone = await state.put('gone', 1, undefined);
      await state.delete('gone', gone.revision);
      await state.stop(5000);
      const next = await place.open();
      test.same(await next.list(''), [kept]);
      const again = await next.put('gone', 2, undefined);
      test.not(again.revision, gone.revision);
      const replaced = await next.put('kept', { a: 2 }, kept.revision);
      test.not(replaced.revision, kept.revision);
    },
  );

  await t.test(
    `${harness.name}: a watcher hears of puts and deletes under its prefix, until it is stopped`,
    async (test) => {
      const place = await harness.createPlace(test);
      const state = await place.open();
      const writer = (await place.openBeside?.()) ?? state;
      let [heard, others] = [0, 0];
      const stopWatching = state.watch('rules/', () => {
        heard += 1;
      });
      test.teardown(
        state.watch('other/', () => {
          others += 1;
        }),
      );
      const entry = await writer.put('rules/1', 1, undefined);
      await waitUntil('the put', () => heard === 1);
      await writer.delete('rules/1', entry.revision);
      await waitUntil('the delete', () => heard === 2);
      stopWatching();
      await writer.put('rules/2', 1, undefined);
      await writer.put('other/1', 1, undefined);
      await waitUntil('the other prefix', () => others === 1);
      test.equal(heard, 2);
    },
  );

  await t.test(
    `${harness.name}: keys of 512 bytes pass, empty and longer ones and values that are not JSON are refused`,
    async (test) => {
      const state = await open(test);
      const key = `k/${'ä'.repeat(255)}`;
      await state.put(key, 1, undefined);
      test.equal((await state.get(key))?.value, 1);
      await test.rejects(state.put(`${key}x`, 1, undefined), { code: 'STATE_KEY_INVALID' });
      await test.rejects(state.put('', 1, undefined), { code: 'STATE_KEY_INVALID' });
      await test.rejects(state.put('key', undefined, undefined), { code: 'STATE_VALUE_INVALID' });
    },
  );

  await t.test(`${harness.name}: stop is safe twice, and afterwards everything is refused`, async (test) => {
    const state = await open(test);
    const last = state.put('last', 1, undefined);
    await Promise.all([last, state.stop(5000)]);
    await state.stop(5000);
    await test.rejects(state.get('last'), { code: 'STATE_NOT_STARTED' });
    await test.rejects(state.put('key', 1, undefined), { code: 'STATE_NOT_STARTED' });
    await test.rejects(state.list(''), { code: 'STATE_NOT_STARTED' });
  });
}
