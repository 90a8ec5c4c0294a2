/**
 * Every route over a running program: a success of each, the errors that it can give, and each answer as the served
 * description says.
 */
import t, { type Test } from 'tap';
import { createAsker, type Asker } from './asking.js';
import { contractRows } from './rows.js';
import type { ContractRow } from './rows/row.js';
import { readDescription, type Answer, type Description, type Operation } from './described.js';
import { startWhole, type Whole } from '../whole.js';
import { until } from '../../../definitions/rig.js';

const maxBodyBytes = 100_000;

interface Contract {
  readonly world: Whole;
  readonly asker: Asker;
  readonly description: Description;
}

async function start(t: Test): Promise<Contract> {
  const world = await startWhole(t, { settings: { 'api.max_body_bytes': maxBodyBytes } });
  const asker = createAsker(world.address().port);
  t.teardown(() => {
    asker.close();
  });
  const { body } = await asker.ask({ method: 'GET', path: '/api/openapi.json', headers: {} });
  return { world, asker, description: readDescription(JSON.parse(body) as Parameters<typeof readDescription>[0]) };
}

const headersOf = (
  { world }: Contract,
  as: string,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> => ({
  'x-requested-by': 'test',
  ...(as === '' ? {} : { authorization: world.authorization(as) }),
  ...more,
});

/** What is wrong with an answer; undefined: nothing. */
function wrong({ description }: Contract, operation: Operation | undefined, answer: Answer): string | undefined {
  if (answer.status >= 400 && !String(answer.headers['content-type']).startsWith('text/plain')) {
    const { type, message } = JSON.parse(answer.body) as { readonly type?: unknown; readonly message?: unknown };
    if (typeof type !== 'string' || typeof message !== 'string') return `no type or no message in ${answer.body}`;
  }
  return operation === undefined ? undefined : description.problemOf(operation, answer);
}

const contract = await start(t);
const { world, asker, description } = contract;
const succeeded = new Set<string>();

t.test('what each route answers', { timeout: 300_000 }, async (t) => {
  const kept = new Map<string, string>();
  const filled = (text: string): string =>
    text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => kept.get(name) ?? whole);
  const ask = async ([method, path, , body, options = {}]: ContractRow): Promise<Answer> =>
    asker.ask({
      method,
      path: filled(path),
      headers: headersOf(contract, options.as ?? 'admin', {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      }),
      body: body === undefined ? undefined : filled(typeof body === 'string' ? body : JSON.stringify(body)),
    });
  for (const row of contractRows) {
    if (typeof row === 'function') {
      await row(world);
      continue;
    }
    const [method, path, status, , { as = 'admin', keep = {}, wait = false } = {}] = row;
    let answer = await ask(row);
    if (wait)
      await until(async () => {
        answer = await ask(row);
        return answer.status === status;
      });
    const name = `${as === '' ? 'nobody' : as}: ${method} ${path}`;
    const operation = description.find(method, filled(path).split('?')[0] as string);
    t.equal(answer.status, status, `${name} ${answer.status === status ? '' : answer.body}`);
    t.equal(wrong(contract, operation, answer), undefined, `${name}: as described`);
    if (answer.status < 400 && operation !== undefined) succeeded.add(`${operation.method} ${operation.path}`);
    for (const [key, place] of Object.entries(keep))
      kept.set(
        key,
        encodeURIComponent(
          String(
            place
              .split('.')
              .reduce<unknown>(
                (at, part) => (at as Record<string, unknown> | undefined)?.[part],
                JSON.parse(answer.body),
              ),
          ),
        ),
      );
  }
  t.same(world.faults, [], 'nothing was a fault of ours');
});

t.test('an export is cancelled by its id', async (t) => {
  const searcher = world.services.searcher as { rows: typeof world.services.searcher.rows };
  const { rows } = searcher;
  searcher.rows = async function* endless(question, options) {
    yield* rows(question, options);
    await new Promise((resolve) => {
      options.signal?.addEventListener('abort', resolve, { once: true });
    });
    throw new Error('ended');
  };
  const leaving = asker
    .ask({
      method: 'POST',
      path: '/api/views/search/messages',
      headers: headersOf(contract, 'admin', { accept: 'text/csv' }),
    })
    .then(
      () => 'whole',
      () => 'cut',
    );
  const list = async (): Promise<readonly { readonly id: string; readonly rows: number }[]> =>
    (
      JSON.parse(
        (await asker.ask({ method: 'GET', path: '/api/exports', headers: headersOf(contract, 'admin') })).body,
      ) as { exports: { id: string; rows: number }[] }
    ).exports;
  await until(async () => ((await list())[0]?.rows ?? 0) > 0);
  const [own] = await list();
  const answer = await asker.ask({
    method: 'DELETE',
    path: `/api/exports/${own?.id ?? ''}`,
    headers: headersOf(contract, 'admin'),
  });
  t.equal(answer.status, 204);
  t.equal(await leaving, 'cut', 'its client sees that it is not whole');
  succeeded.add('DELETE /api/exports/{exportId}');
  searcher.rows = rows;
});

t.test('every route of the description has a row with a success', async (t) => {
  t.same(
    description.operations.map(({ method, path }) => `${method} ${path}`).filter((name) => !succeeded.has(name)),
    [],
    'add rows in test/api/http/contract/rows/',
  );
});

/** What is wrong with a request whatever it asks for. */
t.test('each route refuses what no route takes', { timeout: 300_000 }, async (t) => {
  const json = { 'content-type': 'application/json' };
  for (const operation of description.operations) {
    const path = operation.path.replaceAll(/\{\w+\}/g, 'a'.repeat(24)).replace('{status}', 'alive');
    const name = `${operation.method} ${operation.path}`;
    const refused = async (
      what: string,
      statuses: readonly number[],
      headers: Readonly<Record<string, string>>,
      body?: string,
    ): Promise<void> => {
      const answer = await asker.ask({ method: operation.method, path, headers, body });
      const problem =
        wrong(contract, operation, answer) ??
        (String(answer.status) in operation.responses || answer.status === 401
          ? undefined
          : `${answer.status} is described only as 4XX`);
      if (!statuses.includes(answer.status) || problem !== undefined)
        t.fail(`${name}, ${what}: ${answer.status} ${problem ?? ''} ${answer.body}`);
    };
    const admin = headersOf(contract, 'admin');
    const streams = operation.path.startsWith('/api/streams/{') && !operation.path.endsWith('/clone') ? [404] : [];
    if (!operation.open) await refused('nobody', [401], headersOf(contract, ''));
    await refused('a malformed Authorization', [400], { ...admin, authorization: 'Basic ?' });
    await refused('another media type wanted', [406, ...streams], { ...admin, accept: 'application/x-none' });
    if (operation.method !== 'GET')
      await refused('no X-Requested-By', [400], { authorization: world.authorization('admin') });
    if (operation.body === undefined) continue;
    const accepting = { ...admin, accept: '*/*' };
    await refused('broken JSON', [400, ...streams], { ...accepting, ...json }, '{"a":');
    await refused(
      'another kind of body',
      [415, ...streams],
      { ...accepting, 'content-type': 'application/octet-stream' },
      'a=b',
    );
    await refused(
      'a body that is too large',
      [413, ...streams],
      { ...accepting, ...json },
      JSON.stringify({ a: 'x'.repeat(maxBodyBytes) }),
    );
  }
  t.pass(`${description.operations.length} routes`);
});
