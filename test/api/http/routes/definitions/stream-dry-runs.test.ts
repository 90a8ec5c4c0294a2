import t from 'tap';
import { streamRoutes } from '../../../../../api/http/routes/definitions/streams.js';
import { streamDryRunRoutes } from '../../../../../api/http/routes/definitions/stream-dry-runs.js';
import type { SearchHit } from '../../../../../schemas/query.js';
import { until } from '../../../../definitions/rig.js';
import { basic } from '../../world.js';
import { startRunning } from '../running.js';

const routes = [streamDryRunRoutes];
const rule = { type: 1, field: 'app', value: 'orders', inverted: false };

t.test('a stream is tried against what is stored, within the scope of who asks', async (t) => {
  const scopes: unknown[] = [];
  const searcher = {
    async *rows(
      request: { readonly limit?: number },
      options: { readonly scope: unknown },
    ): AsyncGenerator<readonly SearchHit[]> {
      scopes.push(options.scope);
      for (let from = 0; from < (request.limit ?? 0); from += 100)
        yield Array.from({ length: 100 }, (_, place) => ({
          _id: `m${from + place}`,
          _index: 'sluice_default_0',
          document: { app: place % 10 === 0 ? 'orders' : 'x', timestamp: '2026-01-02T03:04:05.000Z' },
        }));
    },
  };
  const world = await startRunning(t, { routes, searcher: searcher as never });
  const answer = await world.told('POST', '/api/streams/try/history', {
    body: { rules: [rule], messages: 1_000, samples: 3 },
  });
  t.match(answer, {
    status: 200,
    body: { examined: 1_000, matched: 100, complete: true, oldest: '2026-01-02T03:04:05.000Z' },
  });
  t.equal((answer.body['samples'] as unknown[]).length, 3);
  t.match(
    await world.told('POST', '/api/streams/try/history', {
      body: { when: { field: 'app', equals: 'orders' }, messages: 100 },
    }),
    { body: { matched: 10 } },
  );
  t.match(await world.told('POST', '/api/streams/try/history', { body: { when: { fild: 'app', equals: 'orders' } } }), {
    status: 400,
    body: { type: 'ValidationApiError' },
  });
  t.equal((await world.ask('POST', '/api/streams/try/history', { body: {} })).statusCode, 400);
  t.match(await world.told('POST', '/api/streams/system-logs/try/history', { as: 'alice', body: { messages: 100 } }), {
    status: 200,
    body: { examined: 100, matched: 0 },
  });
  t.match(scopes.at(-1), { streams: ['all-messages', 'system-logs'] });
});

t.test(
  'a stream that rules route to is tried with them, on a message and on what is stored, also while it is paused',
  async (t) => {
    const searcher = {
      async *rows(): AsyncGenerator<readonly SearchHit[]> {
        yield Array.from({ length: 100 }, (_, place) => ({
          _id: `m${place}`,
          _index: 'sluice_default_0',
          document: { app: place % 4 === 0 ? 'shop' : 'x', user: 'ada', timestamp: '2026-01-02T03:04:05.000Z' },
        }));
      },
    };
    const files = {
      'own.yaml': `{streams: [{id: shop, title: Shop}, {id: asleep, title: Asleep, enabled: false}], rules: [
    {id: shop-messages, when: {field: app, equals: shop}, then: [{route: {stream: shop}}, {route: {stream: asleep}}]},
    {id: shop-users, when: {field: user, equals: ada}, then: [{route: {stream: asleep}}]}]}`,
    };
    const world = await startRunning(t, { routes: [...routes, streamRoutes], searcher: searcher, files });
    const match = (stream: string, app: string) =>
      world.told('POST', `/api/streams/${stream}/testMatch`, { body: { message: { source: 'h', message: 'm', app } } });
    t.match(await match('shop', 'shop'), {
      status: 200,
      body: { matches: true, reason: 'a rule routes to it: shop-messages', routed_by: ['shop-messages'], rules: {} },
    });
    t.match(await match('shop', 'x'), { status: 200, body: { matches: false, routed_by: [] } });
    t.match(await world.told('POST', '/api/streams/shop/try/history', { body: { messages: 100 } }), {
      status: 200,
      body: { examined: 100, matched: 25 },
    });
    t.match(await world.told('POST', '/api/streams', { body: { title: 'Later', name: 'later', rules: [rule] } }), {
      status: 201,
    });
    t.match(
      await match('later', 'orders'),
      { body: { matches: true, reason: 'its condition holds' } },
      'paused: as it would be when started',
    );
    t.match(await match('later', 'x'), { body: { matches: false, reason: 'its condition does not hold' } });
  },
);

t.test('a try against history ends with its client, and gives its place to the next', async (t) => {
  let ended: () => void = () => undefined;
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  let reading = 0;
  const searcher = {
    async *rows(_: unknown, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<readonly SearchHit[]> {
      reading += 1;
      yield [];
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      ended();
      throw new Error('ended');
    },
  };
  const world = await startRunning(t, { routes, searcher: searcher as never, settings: { 'api.port': 0 } });
  await world.start();
  const { port } = world.address();
  const ask = (signal?: AbortSignal) =>
    fetch(`http://127.0.0.1:${port}/api/streams/system-logs/try/history`, {
      method: 'POST',
      body: '{}',
      headers: { authorization: basic('admin'), 'x-requested-by': 'x', 'content-type': 'application/json' },
      ...(signal === undefined ? {} : { signal }),
    });
  const leaving = new AbortController();
  const two = [ask(leaving.signal), ask(leaving.signal)];
  await until(() => reading === 2);
  const third = await ask();
  t.equal(third.status, 429);
  t.ok(third.headers.get('retry-after'));
  leaving.abort();
  for (const one of two) await t.rejects(one);
  await end;
  await until(async () => {
    const answer = ask(AbortSignal.timeout(500)).catch(() => undefined);
    return (await answer)?.status !== 429;
  });
});
