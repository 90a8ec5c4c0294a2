/** Long work behind a balancer: two servers on one state, as two processes have it. */
import t from 'tap';
import { createMemoryState } from '../../../../../bench/memory-state.js';
import { createJobs, type Job, type Jobs } from '../../../../../api/http/objects/long-work/jobs.js';
import { createSharedWork } from '../../../../../api/http/objects/long-work/shared-work.js';
import { exportRoutes } from '../../../../../api/http/routes/search/export.js';
import { silentLog } from '../../../../../core/log.js';
import { stateErrors } from '../../../../../state/errors.js';
import { until } from '../../../../program.js';
import { createMemorySearcher, document, type MemorySearcher } from '../../search/memory-searcher.js';
import { basic, createWorld, type World } from '../../world.js';

const settings = {
  'store.kind': 'opensearch',
  'topics.kind': 'kafka',
  'topics.kafka.brokers': ['127.0.0.1:1'],
  'store.opensearch.nodes': ['http://127.0.0.1:1'],
};
const documents = Array.from({ length: 250 }, (_, at) => document(Date.now() - at, `message ${at}`));
const prefix = 'jobs/';

/** Answers the first rows, and no more until it is cancelled. */
function heldSearcher(): MemorySearcher {
  const searcher = createMemorySearcher(documents);
  return {
    ...searcher,
    async *rows(request, context) {
      for await (const batch of searcher.rows(request, context)) {
        yield batch;
        await new Promise((resolve) => context.signal?.addEventListener('abort', resolve, { once: true }));
        context.signal?.throwIfAborted();
      }
    },
  };
}

t.test('exports are shown and cancelled by any process', { timeout: 60_000 }, async (t) => {
  const parts = { searcher: heldSearcher(), routes: [exportRoutes], settings, state: createMemoryState() };
  const [first, second] = [await createWorld(t, parts), await createWorld(t, parts)];
  await first.start();
  const headers = { authorization: basic('alice'), 'x-requested-by': 'test' };
  const exporting = fetch(`http://127.0.0.1:${first.address().port}/api/views/search/messages`, {
    method: 'POST',
    headers,
  }).then((answer) => answer.text());
  const list = async (world: World, as: string) =>
    (await world.ask('GET', '/api/exports', { as })).json<{ exports: readonly { readonly id: string }[] }>().exports;
  const shown = await until(
    async () => {
      const [one] = await list(second, 'alice');
      return one;
    },
    30_000,
    () => 'the other process does not tell of it',
  );
  t.match(shown, { owner: 'alice', query: '', rows: 100, total: 250 });
  t.same(await list(second, 'operator'), [], 'of somebody else');
  t.equal((await second.ask('DELETE', `/api/exports/${shown.id}`, { as: 'operator' })).statusCode, 404);
  t.equal((await list(second, 'admin')).length, 1);
  t.equal((await second.ask('DELETE', `/api/exports/${shown.id}`, { as: 'alice' })).statusCode, 204);
  await t.rejects(exporting, 'cut off');
  await until(
    async () => ((await list(second, 'alice')).length === 0 ? true : undefined),
    30_000,
    () => 'it stays in the list',
  );
  t.same(await list(first, 'alice'), []);
  t.same(await parts.state.list('exports/'), [], 'nothing of it is left');
});

interface Process {
  readonly jobs: Jobs;
  stop(): void;
}

function createProcesses(t: { teardown(action: () => void): void }, clock: { now: number } = { now: Date.now() }) {
  const state = createMemoryState();
  const start = (kept = state): Process => {
    const shared = createSharedWork<Job>({
      state: kept,
      prefix,
      retainedMs: 3_600_000,
      log: silentLog,
      tellMs: 5,
      now: () => clock.now,
    });
    t.teardown(() => shared.stop());
    return { jobs: createJobs(shared), stop: () => shared.stop() };
  };
  return { state, start, clock };
}

const ended = (jobs: Jobs, id: string) =>
  until(
    async () => {
      const job = await jobs.find(id);
      return job?.state === 'running' ? undefined : job;
    },
    30_000,
    () => 'the job does not end',
  );

t.test('a job is looked at in any process: its progress, and what came of it', async (t) => {
  const { start } = createProcesses(t);
  const [first, second] = [start(), start()];
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { id } = await first.jobs.begin('replay', 'alice', async (_, onProgress) => {
    onProgress({ done: 3, total: 7 });
    await held;
    return { replayed: 7 };
  });
  t.match(
    await second.jobs.find(id),
    { id, kind: 'replay', by: 'alice', state: 'running' },
    'as soon as the first has answered',
  );
  await until(
    async () => ((await second.jobs.find(id))?.progress.done === 3 ? true : undefined),
    30_000,
    () => 'no progress',
  );
  release();
  for (const { jobs } of [first, second]) t.match(await ended(jobs, id), { state: 'done', report: { replayed: 7 } });
  const other = await second.jobs.begin('drop', 'bob', () => Promise.reject(new Error('secret')));
  t.match(await ended(first.jobs, other.id), { state: 'failed', problem: 'Something went wrong on our side.' });
  for (const { jobs } of [first, second])
    t.same((await jobs.list()).map((job) => job.id).sort(), [id, other.id].sort());
});

t.test('a job is cancelled from any process, and one of a process that is gone has failed', async (t) => {
  const { start, clock, state } = createProcesses(t);
  const [first, second] = [start(), start()];
  const untilAborted = (signal: AbortSignal) =>
    new Promise<Record<string, unknown>>((resolve) =>
      signal.addEventListener('abort', () => resolve({ done: 1 }), { once: true }),
    );
  const cancelled = await first.jobs.begin('replay', 'alice', untilAborted);
  await second.jobs.cancel(cancelled.id);
  for (const { jobs } of [first, second])
    t.match(await ended(jobs, cancelled.id), { state: 'cancelled', report: { done: 1 } });

  const lost = await first.jobs.begin('replay', 'alice', untilAborted);
  first.stop();
  clock.now += 61_000;
  t.match(await second.jobs.find(lost.id), { state: 'failed', problem: /is gone/ });
  t.match(await second.jobs.find(cancelled.id), { state: 'cancelled' }, 'what has ended can be looked at for an hour');
  clock.now += 3_600_000;
  t.same(await second.jobs.list(), []);
  t.same(await state.list(prefix), [], 'and is forgotten then');
  await first.jobs.cancel(lost.id);
});

t.test('a state that does not answer holds no work up', async (t) => {
  const { start, state } = createProcesses(t);
  let away = true;
  const put = state.put.bind(state);
  const { jobs } = start({
    ...state,
    put: (...entry) => (away ? Promise.reject(stateErrors.create('STATE_UNAVAILABLE')) : put(...entry)),
  });
  const { id } = await jobs.begin('replay', 'alice', async () => ({ replayed: 1 }));
  t.match(await ended(jobs, id), { state: 'done' });
  const second = start();
  t.equal(await second.jobs.find(id), undefined);
  away = false;
  t.match(
    await until(
      () => second.jobs.find(id),
      30_000,
      () => 'it is never told',
    ),
    { state: 'done', report: { replayed: 1 } },
  );
});
