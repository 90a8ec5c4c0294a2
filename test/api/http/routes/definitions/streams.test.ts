import t from 'tap';
import { apiIdOf } from '../../../../../core/object-ids.js';
import { streamRoutes } from '../../../../../api/http/routes/definitions/streams.js';
import { streamRuleRoutes } from '../../../../../api/http/routes/definitions/stream-rules.js';
import { streamDryRunRoutes } from '../../../../../api/http/routes/definitions/stream-dry-runs.js';
import { expectStatuses, startRunning } from '../running.js';

const routes = [streamRoutes, streamRuleRoutes, streamDryRunRoutes];
const files = { 'own.yaml': 'streams: [{id: billing, title: Billing}]' };
const rule = { type: 1, field: 'app', value: 'orders', inverted: false };

t.test('a stream lives: made paused, started, changed, tried, cloned, deleted', async (t) => {
  const world = await startRunning(t, { routes, files });
  const made = await world.told('POST', '/api/streams', {
    body: {
      entity: {
        title: 'Shop Orders',
        description: 'all',
        rules: [rule],
        matching_type: 'AND',
        remove_matches_from_default_stream: false,
        index_set_id: apiIdOf('sluice_default'),
      },
      share_request: null,
    },
  });
  t.equal(made.status, 201);
  const id = made.body['stream_id'] as string;
  t.equal(id, apiIdOf('shop-orders'));
  t.match(await world.told('GET', `/api/streams/${id}`), {
    status: 200,
    body: {
      id,
      name: 'shop-orders',
      title: 'Shop Orders',
      disabled: true,
      origin: 'api',
      creator_user_id: 'admin',
      is_editable: true,
      is_default: false,
      index_set: 'sluice_default',
      rules: [{ type: 1, field: 'app', value: 'orders' }],
    },
  });
  t.same(
    world.sluice.rules()?.apply({ app: 'orders' }, { messageId: '1', receiver: 'r' }).streams,
    ['all-messages'],
    'a paused stream takes nothing',
  );
  t.equal((await world.ask('POST', `/api/streams/${id}/resume`)).statusCode, 204);
  t.equal((await world.ask('POST', `/api/streams/${id}/resume`)).statusCode, 204, 'also when it is so already');
  t.same(
    world.sluice.rules()?.apply({ app: 'orders' }, { messageId: '1', receiver: 'r' }).streams,
    ['all-messages', 'shop-orders'],
    'in force when the answer comes',
  );

  t.match(await world.told('PUT', `/api/streams/${id}`, { body: { title: 'Orders' } }), {
    status: 200,
    body: { title: 'Orders', description: 'all', disabled: false },
  });
  const added = await world.told('POST', `/api/streams/${id}/rules`, {
    body: { type: 6, field: 'message', value: 'paid' },
  });
  t.equal(added.status, 201);
  const ruleId = added.body['streamrule_id'] as string;
  t.match(await world.told('GET', `/api/streams/${id}/rules`), {
    body: { total: 2, stream_rules: [{ type_name: 'exact' }, { id: ruleId, type_name: 'contains' }] },
  });

  const match = (message: object) => world.told('POST', `/api/streams/${id}/testMatch`, { body: { message } });
  t.match(await match({ source: 'a', app: 'orders', message: 'it was paid' }), {
    status: 200,
    body: { matches: true, rules: { [ruleId]: true } },
  });
  const missed = await match({ version: '1.1', host: 'a', short_message: 'it was not', _app: 'orders' });
  t.match(missed, {
    status: 200,
    body: { matches: false, reason: 'its condition does not hold', rules: { [ruleId]: false } },
  });
  t.ok(Object.values(missed.body['rules'] as object).includes(true), 'the other rule matches, and says so');
  t.match((await match({ version: '1.1', host: 'a', short_message: '' })).status, 400);

  const changed = await world.told('PUT', `/api/streams/${id}/rules/${ruleId}`, {
    body: { type: 'presence', field: 'message' },
  });
  t.equal(changed.status, 200);
  const newId = changed.body['streamrule_id'] as string;
  t.match(await world.told('GET', `/api/streams/${id}/rules/${newId}`), { status: 200, body: { type: 5 } });
  t.equal((await world.ask('DELETE', `/api/streams/${id}/rules/${newId}`)).statusCode, 204);
  t.equal((await world.ask('DELETE', `/api/streams/${id}/rules/${newId}`)).statusCode, 404);

  const clone = await world.told('POST', `/api/streams/${id}/clone`, { body: { title: 'Orders, again' } });
  t.equal(clone.status, 201);
  t.match(await world.told('GET', `/api/streams/${clone.body['stream_id'] as string}`), {
    body: { disabled: true, description: 'all', rules: [{ value: 'orders' }] },
  });
  t.match(
    await world.told('POST', '/api/streams/bulk_delete', {
      body: { entity_ids: [clone.body['stream_id'], 'nothing', 'audit-logs'] },
    }),
    {
      status: 200,
      body: {
        successfully_performed: 1,
        failures: [
          { entity_id: 'nothing' },
          { entity_id: 'audit-logs', failure_explanation: /ships with the program/ },
        ],
      },
    },
  );
  t.equal((await world.ask('DELETE', `/api/streams/${id}`)).statusCode, 204);
  t.equal((await world.ask('GET', `/api/streams/${id}`)).statusCode, 404);
  t.match(
    await world.told('POST', '/api/streams', { body: { title: 'Shop Orders' } }),
    { status: 201, body: { name: 'shop-orders-2' } },
    'the id of the deleted one is not given again',
  );
  t.ok(
    world.recorded.some(
      ({ fields }) => fields?.['audit_action'] === 'stream:delete' && fields['audit_actor'] === 'admin',
    ),
  );
});

t.test(
  'a stream with a condition that is written back as it was read keeps it, and rules take its place',
  async (t) => {
    const world = await startRunning(t, { routes, files });
    const streamsOf = (message: object): readonly string[] =>
      world.sluice.rules()?.apply({ ...message }, { messageId: '1', receiver: 'r' }).streams ?? [];
    for (const id of ['audit-logs', 'system-logs']) {
      const before = (await world.told('GET', `/api/streams/${id}`)).body;
      const { title, matching_type, rules, remove_matches_from_default_stream, index_set_id } = before;
      t.same(rules, []);
      const after = await world.told('PUT', `/api/streams/${id}`, {
        body: { title, matching_type, rules, remove_matches_from_default_stream, index_set_id, description: 'changed' },
      });
      t.match(after, { status: 200, body: { description: 'changed', when: before['when'] as object } });
    }
    t.same(streamsOf({ nc_audit_label: 'true' }), ['audit-logs']);
    t.match(await world.told('PUT', '/api/streams/system-logs', { body: { rules: [rule] } }), {
      status: 200,
      body: { when: null, rules: [{ field: 'app' }] },
    });
    t.same(streamsOf({ app: 'orders' }), ['all-messages', 'system-logs']);
    t.match(await world.told('PUT', '/api/streams/system-logs', { body: { rules: [] } }), {
      status: 200,
      body: { when: null, rules: [] },
    });
  },
);

t.test('mistakes are refused with the member, and nothing is stored', async (t) => {
  const world = await startRunning(t, { routes, files });
  const post = (body: unknown) => world.told('POST', '/api/streams', { body });
  t.match(await post({ description: 'no title' }), {
    status: 400,
    body: { type: 'ValidationApiError', validation_errors: { title: [{ error: /needs a title/ }] } },
  });
  t.match(await post({ title: 'x', index_set_id: 'nowhere' }), {
    status: 400,
    body: { validation_errors: { index_set_id: [{ error: /nowhere/ }] } },
  });
  t.match(await post({ title: 'x', rules: [{ type: 2, field: 'a', value: '(' }] }), {
    status: 400,
    body: { validation_errors: { 'rules[0].value': [{ error: /cannot be compiled/ }] } },
  });
  t.match(await post({ title: 'x', rules: [{ type: 99, field: 'a', value: 'b' }] }), {
    status: 400,
    body: { type: 'RequestError' },
  });
  t.match(await post({ title: 'x', rules: [{ type: 1, field: 'a', value: '' }] }), {
    status: 400,
    body: { validation_errors: { 'rules[0]': [{ error: /needs `value`/ }] } },
  });
  t.match(await post({ title: 'x', name: 'billing' }), { status: 409 });
  t.match(await world.told('PUT', '/api/streams/billing', { body: { title: 'y' } }), {
    status: 409,
    body: { message: /stands in the rule file own\.yaml/, origin: 'file' },
  });
  t.match(await world.told('DELETE', '/api/streams/audit-logs'), {
    status: 409,
    body: { message: /ships with the program/ },
  });
  t.match(await world.told('POST', '/api/streams/audit-logs/rules', { body: rule }), {
    status: 409,
    body: { message: /`when`/ },
  });
  t.match(await world.told('POST', '/api/streams/all-messages/pause'), { status: 400 });
  t.match(await world.told('PUT', '/api/streams/audit-logs', { body: { title: 'Audit', matching_type: 'XOR' } }), {
    status: 400,
  });
  t.same(await world.sluice.state?.list('objects/'), []);
  t.match(await world.told('PUT', '/api/streams/audit-logs', { body: { title: 'Audit' } }), {
    status: 200,
    body: { origin: 'shipped', title: 'Audit', description: /Audit log files/ },
  });
});

t.test('who may what; a stream that may not be read is nowhere', async (t) => {
  const world = await startRunning(t, { routes, files });
  await expectStatuses(t, world, [
    ['', 'GET', '/api/streams', 401],
    ['reader', 'GET', '/api/streams', 200],
    ['reader', 'GET', '/api/streams/all-messages', 404],
    ['operator', 'GET', '/api/streams/audit-logs', 404],
    ['operator', 'GET', '/api/streams/audit-logs/rules', 404],
    ['operator', 'GET', '/api/streams/billing', 200],
    ['operator', 'POST', '/api/streams', 403, { title: 'x' }],
    ['alice', 'GET', '/api/streams/system-logs/rules', 200],
    ['alice', 'GET', '/api/streams/system-logs/rules/types', 200],
    ['alice', 'PUT', '/api/streams/all-messages', 403, { title: 'x' }],
    ['alice', 'PUT', '/api/streams/system-logs', 200, { title: 'System' }],
    ['alice', 'POST', '/api/streams/audit-logs/pause', 404],
    ['alice', 'DELETE', '/api/streams/system-logs', 409],
    ['alice', 'POST', '/api/streams/system-logs/pause', 204],
    ['alice', 'POST', '/api/streams/system-logs/clone', 403, { title: 'x' }],
    ['operator', 'POST', '/api/streams/audit-logs/testMatch', 404, { message: {} }],
    ['operator', 'POST', '/api/streams/audit-logs/try/history', 404, {}],
    ['reader', 'POST', '/api/streams/try/history', 403, { rules: [] }],
    ['admin', 'GET', `/api/streams/${apiIdOf('audit-logs')}`, 200],
    ['admin', 'GET', '/api/streams/enabled', 200],
  ]);
  const titles = async (as: string) =>
    ((await world.told('GET', '/api/streams', { as })).body['streams'] as readonly { name: string }[]).map(
      ({ name }) => name,
    );
  t.same(await titles('reader'), []);
  t.same(await titles('alice'), ['all-messages', 'system-logs']);
  t.notOk((await titles('operator')).includes('audit-logs'));
  t.match(await world.told('GET', '/api/streams/paginated?query=logs&per_page=2&page=2&order=desc', { as: 'admin' }), {
    status: 200,
    body: { pagination: { total: 6, count: 2, page: 2, per_page: 2 } },
  });
  t.match(
    await world.told('POST', '/api/streams/bulk_pause', {
      as: 'alice',
      body: { entity_ids: ['audit-logs', 'all-messages'] },
    }),
    {
      body: {
        successfully_performed: 0,
        failures: [{ failure_explanation: 'There is no such stream.' }, { failure_explanation: /editing/ }],
      },
    },
  );
  const match = await world.told('POST', '/api/streams/all-messages/testMatch', {
    as: 'alice',
    body: { message: { source: 'x', message: '[logType=audit] a', tag: 'var/log/messages' } },
  });
  t.notOk(JSON.stringify(match.body).includes('audit-logs'), 'a try tells nothing of streams that may not be read');
});
