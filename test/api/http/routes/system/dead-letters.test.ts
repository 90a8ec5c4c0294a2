/** Dead letters through the API, for administrators. */
import { connect } from 'node:net';
import t from 'tap';
import { until } from '../../../../definitions/rig.js';
import { expectStatuses } from '../running.js';
import { list, startResources } from '../resources.js';

const world = await startResources(t);
const { told, sluice } = world;

t.test('dead letters are listed, shown, planned, replayed and dropped, by administrators only', async (t) => {
  const base = '/api/dead-letters';
  const sender = connect(
    (sluice.receivers[0] as NonNullable<(typeof sluice.receivers)[0]>).address().port,
    '127.0.0.1',
    () => sender.end('{"version":"1.1","host":"a"}\0not json\0'),
  );
  await until(async () => ((await told('GET', base)).body['total'] as number) === 2);
  const deadLetters = list((await told('GET', `${base}?limit=1`)).body, 'dead_letters');
  t.equal(deadLetters.length, 1);
  const id = encodeURIComponent(deadLetters[0]?.['id'] as string);
  t.match(await told('GET', `${base}/${id}`), { status: 200, body: { document: { code: String, raw: String } } });
  const finished = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const begun = await told('POST', path, { body });
    t.equal(begun.status, 202);
    const job = `${base}/jobs/${begun.body['id'] as string}`;
    await until(async () => (await told('GET', job)).body['state'] !== 'running');
    return (await told('GET', job)).body;
  };
  t.match(await finished(`${base}/replay`, { all: true, dry_run: true }), {
    kind: 'plan',
    state: 'done',
    by: 'admin',
    report: { done: 2 },
  });
  t.match(await finished(`${base}/replay`, { all: true }), { kind: 'replay', state: 'done', report: { failed: 2 } });
  t.match(await finished(`${base}/drop`, { ids: [deadLetters[0]?.['id']] }), {
    kind: 'drop',
    state: 'done',
    report: { dropped: 1 },
  });
  t.match((await told('GET', `${base}?state=dropped`)).body, {
    total: 1,
    dead_letters: [{ document: { dropped_by: 'admin' } }],
  });
  await expectStatuses(t, world, [
    ['admin', 'POST', `${base}/replay`, 400, {}],
    ['admin', 'POST', `${base}/drop`, 400, { from: 'never' }],
    ['admin', 'GET', `${base}?query=(`, 400],
    ['admin', 'GET', `${base}/nothing`, 404],
    ['admin', 'GET', `${base}/jobs/nothing`, 404],
    ['admin', 'DELETE', `${base}/jobs/nothing`, 404],
    ['admin', 'GET', `${base}/jobs`, 200],
    ['operator', 'GET', base, 403],
    ['operator', 'GET', `${base}/${id}`, 403],
    ['operator', 'POST', `${base}/replay`, 403, { all: true }],
    ['operator', 'POST', `${base}/drop`, 403, { all: true }],
    ['operator', 'GET', `${base}/jobs`, 403],
    ['reader', 'GET', base, 403],
    ['', 'GET', base, 401],
  ]);
});
