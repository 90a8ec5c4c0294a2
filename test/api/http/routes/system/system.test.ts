/** What the system tells about itself. */
import t from 'tap';
import { expectStatuses } from '../running.js';
import { list, startResources } from '../resources.js';

const world = await startResources(t);
const { told } = world;

t.test('the system tells what it is and does', async (t) => {
  t.match(await told('GET', '/api/system', { as: 'reader' }), {
    status: 200,
    body: { version: String, lb_status: 'alive', is_processing: true },
  });
  const status = await world.ask('GET', '/api/system/lbstatus', { as: '' });
  t.match([status.statusCode, status.body, status.headers['content-type']], [200, 'ALIVE', /text\/plain/]);
  t.equal((await world.ask('PUT', '/api/system/lbstatus/override/dead')).statusCode, 204);
  t.match([(await world.ask('GET', '/api/system/lbstatus', { as: '' })).statusCode], [503]);
  t.equal((await world.ask('PUT', '/api/system/lbstatus/override/throttled')).statusCode, 204);
  t.match([(await world.ask('GET', '/api/system/lbstatus', { as: '' })).statusCode], [429]);
  t.match(await told('GET', '/api/system/journal'), {
    status: 200,
    body: { enabled: true, writable: true, uncommitted_journal_entries: Number, stored: Number },
  });
  const metrics = await world.ask('GET', '/api/metrics/prometheus', {
    as: 'operator',
    headers: { accept: 'text/plain' },
  });
  t.match(metrics.body, /^# HELP sluice_/m);
  await expectStatuses(t, world, [
    ['admin', 'PUT', '/api/system/lbstatus/override/automatic', 204],
    ['operator', 'PUT', '/api/system/lbstatus/override/dead', 403],
    ['admin', 'PUT', '/api/system/lbstatus/override/asleep', 400],
    ['', 'GET', '/api/system/lbstatus', 200],
    ['', 'GET', '/api/system', 401],
    ['reader', 'GET', '/api/cluster', 200],
    ['operator', 'GET', '/api/system/cluster/nodes', 200],
    ['operator', 'GET', '/api/system/cluster/node', 200],
    ['operator', 'GET', '/api/system/notifications', 200],
    ['operator', 'GET', '/api/system/throughput', 200],
    ['reader', 'GET', '/api/system/journal', 403],
    ['reader', 'GET', '/api/metrics/prometheus', 403],
    ['reader', 'GET', '/api/system/notifications', 403],
  ]);
  t.ok(list((await told('GET', '/api/system/cluster/nodes')).body, 'nodes').length === 1);
});
