/** Receivers and processors that join and leave under load. Prints how long each change took. */
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { skipWithoutKafka, skipWithoutOpenSearch } from '../engines.js';
import { createReckoner } from '../faults/reckoning.js';
import { startTraffic } from '../faults/traffic.js';
import { until } from '../program.js';
import { createCluster } from './cluster.js';

const rate = Number(process.env['SLUICE_ROLES_RATE'] ?? 2_000);
const skip = skipWithoutKafka().skip || skipWithoutOpenSearch().skip;

t.test('processors join and leave under load: nothing is missing, doubled or out of order', { skip, timeout: 180_000 }, async (t) => {
  const cluster = await createCluster(t);
  const receiver = await cluster.start('receiver', 'receiver', { workers: 2 });
  const first = await cluster.start('processor-1', 'processor');
  const port = receiver.port('gelf-tcp');
  let connections = 0;
  const traffic = startTraffic({ tcp: () => ({ host: '127.0.0.1', port }), connections: 8, rate, nextConnection: () => (connections += 1) });
  await cluster.takenOver(20_000);
  const took = async (what: string, limitMs: number, change: () => Promise<unknown>): Promise<void> => {
    const [milliseconds] = await Promise.all([cluster.takenOver(60_000), change()]);
    t.comment(`${what}: every partition stores again after ${(milliseconds / 1000).toFixed(1)} s`);
    t.ok(milliseconds < limitMs, `${what}: within ${limitMs / 1000} s`);
    await wait(500);
  };
  const second = await cluster.start('processor-2', 'processor');
  const third = await cluster.start('processor-3', 'processor');
  await took('three processors', 10_000, async () => undefined);
  await took('graceful leave', 6_000, () => second.end('SIGTERM'));
  await took('kill -9', 10_000, () => third.end('SIGKILL'));
  const fourth = await cluster.start('processor-4', 'processor');
  await took('kill -9 of the one that was first', 10_000, () => first.end('SIGKILL'));
  const sent = await traffic.stop();
  await until(async () => ((await cluster.lag()) === 0 ? true : undefined), 60_000, () => fourth.output().slice(-3000));
  await fourth.control.request('POST', '/refresh', {});
  const { accepted, missing, doubled, outOfOrder, resent } = await createReckoner(receiver.settingsFile).reckon(fourth, new Set());
  t.comment(`sent ${sent}, accepted ${accepted}, resent ${resent}, missing ${missing.length}, doubled ${doubled.length}, out of order ${outOfOrder}`);
  t.equal(accepted, sent);
  t.same({ missing: missing.length, doubled: doubled.length, outOfOrder }, { missing: 0, doubled: 0, outOfOrder: 0 });
  t.equal(await fourth.end(), 0);
  t.equal(await receiver.end(), 0);
});
