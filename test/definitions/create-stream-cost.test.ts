/** What a change through the API costs while there are many streams: nothing that would hold up deliveries. */
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { apiRoutes } from '../../api/http/routes.js';
import { startRunning, type Running } from '../api/http/routes/running.js';
import { slowness } from '../deadlines.js';

const streams = 100;
const measured = 20;
const quietMs = 200;
const mostMs = 20;

async function create(world: Running, at: number): Promise<void> {
  const { status, body } = await world.told('POST', '/api/streams', {
    body: {
      title: `Shop ${at}`,
      index_set_id: 'sluice_default',
      rules: [{ type: 1, field: 'app', value: `shop-${at}` }],
    },
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
}

/** Milliseconds of CPU of this process, all threads, until everything that the work leaves behind is done. */
async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  await pause(quietMs);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const middle = (values: readonly number[]): number =>
  [...values].sort((left, right) => left - right)[values.length >> 1] ?? 0;

await t.test(`creating a stream beside ${streams} others costs at most ${mostMs * slowness} ms of CPU`, async (t) => {
  const world = await startRunning(t, { routes: apiRoutes });
  for (let at = 0; at < streams; at += 1) await create(world, at);
  const [idle, created]: [number[], number[]] = [[], []];
  for (let at = 0; at < measured; at += 1) {
    idle.push(await cpuOf(() => Promise.resolve()));
    created.push(await cpuOf(() => create(world, streams + at)));
  }
  const cost = middle(created) - middle(idle);
  t.comment(`${cost.toFixed(1)} ms of CPU, ${middle(idle).toFixed(1)} ms more go by in this time by themselves`);
  // Threads that share a core count more than they do.
  t.ok(cost < mostMs * slowness, `${cost.toFixed(1)} ms`);
});
