/** Rules: tried on a message before they are saved, then in force. */
import t from 'tap';
import { apiIdOf } from '../../../../../core/object-ids.js';
import { expectStatuses } from '../running.js';
import { startResources } from '../resources.js';

const world = await startResources(t);
const { told, sluice } = world;

t.test('a rule: tried before it is saved, then in force', async (t) => {
  const when = { field: 'app', equals: 'shop' };
  const message = { source: 'a', message: 'x', app: 'shop' };
  t.match(
    await told('POST', '/api/rules/try', {
      body: { when, then: [{ set: { field: 'team', value: 'red' } }, { route: { stream: 'system-logs' } }], message },
    }),
    {
      status: 200,
      body: {
        matches: true,
        condition: { held: true },
        changes: [{ field: 'team', before: null, after: 'red' }],
        streams: [{ name: 'all-messages' }, { name: 'system-logs' }],
      },
    },
  );
  t.match(
    await told('POST', '/api/rules', {
      body: { description: 'Team of the shop', when, then: [{ set: { field: 'team', value: 'red' } }] },
    }),
    { status: 201, body: { id: apiIdOf('team-of-the-shop'), name: 'team-of-the-shop', enabled: true } },
  );
  const document: Record<string, string> = { ...message };
  sluice.rules()?.apply(document, { messageId: '1', receiver: 'r' });
  t.equal(document['team'], 'red');
  t.match(await told('POST', '/api/rules/team-of-the-shop/try', { body: { message: { ...message, app: 'other' } } }), {
    status: 200,
    body: { matches: false, state: 'not matched', condition: { held: false, found: '"other"' } },
  });
  t.match(await told('PUT', '/api/rules/team-of-the-shop', { body: { enabled: false } }), {
    status: 200,
    body: { enabled: false, when },
  });
  await expectStatuses(t, world, [
    ['admin', 'POST', '/api/rules', 400, { when: { field: 'a', equal: 'b' }, then: [{ drop: {} }] }],
    ['admin', 'POST', '/api/rules', 400, { description: 'nothing' }],
    ['admin', 'POST', '/api/rules', 409, { name: 'own-rule', when, then: [{ drop: {} }] }],
    ['admin', 'POST', '/api/rules/try', 400, { when: { fild: 1 }, message }],
    ['admin', 'PUT', '/api/rules/own-rule', 409, { enabled: false }],
    ['admin', 'DELETE', '/api/rules/own-rule', 409],
    ['admin', 'DELETE', '/api/rules/level-default', 409],
    ['admin', 'PUT', '/api/rules/level-default', 200, { enabled: false }],
    ['admin', 'GET', '/api/rules/nothing', 404],
    ['operator', 'GET', '/api/rules', 200],
    ['operator', 'GET', '/api/rules/own-rule', 200],
    ['operator', 'POST', '/api/rules', 403, { when }],
    ['operator', 'PUT', '/api/rules/own-rule', 403, {}],
    ['operator', 'DELETE', '/api/rules/own-rule', 403],
    ['operator', 'POST', '/api/rules/try', 403, { message }],
    ['operator', 'POST', '/api/rules/own-rule/try', 403, { message }],
    ['operator', 'POST', '/api/rules/try/history', 403, { when }],
    ['admin', 'POST', '/api/rules/try/history', 200, { when, messages: 10 }],
    ['admin', 'POST', '/api/rules/try/history', 400, { when: { never: 1 } }],
    ['reader', 'GET', '/api/rules', 403],
    ['admin', 'DELETE', '/api/rules/team-of-the-shop', 204],
  ]);
});
