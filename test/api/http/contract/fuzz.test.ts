/**
 * Requests for every operation of the served description, fitting, nearly fitting and junk, as an administrator, a
 * reader and nobody. No answer is a fault of ours, each is one that the description has, and the server lives on.
 * SLUICE_TEST_FUZZ: how many requests; SLUICE_TEST_FUZZ_SEED: another seed.
 */
import t from 'tap';
import { createAsker, type Asker, type Sent } from './asking.js';
import { readDescription, type Answer, type Description } from './described.js';
import { createKnown } from './fuzz/known.js';
import { createRandom } from './fuzz/random.js';
import { createRequests, type Kind } from './fuzz/requests.js';
import { createValues } from './fuzz/values.js';
import { startWhole, type Whole } from '../whole.js';

const seed = Number(process.env['SLUICE_TEST_FUZZ_SEED'] ?? 6);
const wanted = process.env['SLUICE_TEST_FUZZ'];
const requests = Number(wanted ?? 1_500);
/** Without a wish, this long at most; a slow machine asks less. */
const mostMs = wanted === undefined ? 15_000 : Infinity;
const refreshEvery = 150;
/** More than these say nothing new. */
const mostProblems = 40;

/** Undefined: as it should be. */
function problemOf(description: Description, { method, path }: Sent, answer: Answer): string | undefined {
  const json = String(answer.headers['content-type']).startsWith('application/json');
  const operation = description.find(method, path.split('?')[0] as string);
  if (
    answer.status >= 500 &&
    !(
      answer.status === 503 &&
      (answer.headers['retry-after'] !== undefined || operation?.path === '/api/system/lbstatus')
    )
  )
    return 'a fault of ours';
  if (answer.status >= 400 && json && !isError(answer.body)) return 'an error without type and message';
  if (answer.status >= 400 && !json && operation?.path !== '/api/system/lbstatus') return 'an error that is no JSON';
  return operation === undefined ? undefined : description.problemOf(operation, answer);
}

function isError(body: string): boolean {
  const { type, message } = JSON.parse(body) as { readonly type?: unknown; readonly message?: unknown };
  return typeof type === 'string' && typeof message === 'string';
}

const textOf = ({ method, path, headers, body }: Sent): string =>
  `${method} ${path.slice(0, 500)} ${JSON.stringify({ ...headers, authorization: headers['authorization'] === undefined ? 'none' : '...' })} ${String(body ?? '').slice(0, 1_500)}`;

async function run(
  world: Whole,
  asker: Asker,
  description: Description,
): Promise<{ readonly problems: string[]; readonly statuses: Map<string, number>; readonly done: number }> {
  const random = createRandom(seed);
  const known = createKnown(asker, description, world.authorization('admin'));
  const values = createValues({ random, resolve: description.resolve, known: known.examples });
  const { make } = createRequests(values, known);
  const problems: string[] = [];
  const statuses = new Map<string, number>();
  const end = performance.now() + mostMs;
  let done = 0;
  for (; done < requests && performance.now() < end && problems.length < mostProblems; done += 1) {
    if (done % refreshEvery === 0) await known.refresh();
    const kind = values.pick<Kind>(['fitting', 'fitting', 'nearly', 'nearly', 'junk']);
    const as = values.pick(['admin', 'admin', 'admin', 'operator', 'reader', '']);
    const sent = make(
      values.pick(description.operations),
      kind,
      as === '' ? {} : { authorization: world.authorization(as) },
    );
    const faults = world.faults.length;
    const answer = await asker.ask(sent).catch((error: unknown) => ({ status: 0, headers: {}, body: String(error) }));
    const problem =
      answer.status === 0
        ? 'no answer'
        : (problemOf(description, sent, answer) ?? (world.faults.length > faults ? 'logged as a fault' : undefined));
    if (problem !== undefined)
      problems.push(
        `request ${done}, ${problem}: ${textOf(sent)} -> ${answer.status} ${answer.body.slice(0, 300)} ${world.faults.slice(faults).join(' ').slice(0, 1_500)}`,
      );
    const key = `${Math.floor(answer.status / 100)}XX ${kind}`;
    statuses.set(key, (statuses.get(key) ?? 0) + 1);
  }
  return { problems, statuses, done };
}

t.test(`requests of seed ${seed}`, { timeout: wanted === undefined ? 300_000 : 3_600_000 }, async (t) => {
  const world = await startWhole(t);
  const asker = createAsker(world.address().port);
  t.teardown(() => {
    asker.close();
  });
  const { body } = await asker.ask({ method: 'GET', path: '/api/openapi.json', headers: {} });
  const { problems, statuses, done } = await run(
    world,
    asker,
    readDescription(JSON.parse(body) as Parameters<typeof readDescription>[0]),
  );
  t.comment(`${done} requests: ${JSON.stringify([...statuses].sort())}`);
  t.same(problems, []);
  t.equal(
    (await asker.ask({ method: 'GET', path: '/api/system', headers: { authorization: world.authorization('admin') } }))
      .status,
    200,
    'the server lives on',
  );
});
