/** Obfuscation: dry runs, and changes in both of its shapes. */
import t from 'tap';
import { expectStatuses } from '../running.js';
import { startResources } from '../resources.js';

const world = await startResources(t);
const { told, sluice } = world;

t.test('obfuscation: tried, changed in our words and in those of the plugin, set back', async (t) => {
  const base = '/api/system/obfuscation';
  const plugin = '/api/plugins/org.example.obfuscation/obfuscation';
  t.match(await told('POST', `${base}/try`, { body: { text: 'it is 123-45-6789, so' } }), {
    status: 200,
    body: { text: 'it is ********, so', found: [{ start: 6, end: 17, text: '123-45-6789', pattern: 'us-ssn' }] },
  });
  t.match(await told('POST', plugin, { body: { text: 'it is 123-45-6789' } }), {
    status: 200,
    body: {
      obfuscatedText: 'it is ********',
      foundSensitiveData: [{ sensitiveText: '123-45-6789', finder: 'us-ssn' }],
    },
  });
  t.match(
    await told('PUT', base, {
      body: { enabled: true, streams: ['All messages'], patterns: [{ id: 'card', pattern: '\\b4\\d{15}\\b' }] },
    }),
    { status: 200, body: { enabled: true, streams: ['all-messages'], fields: ['message', 'full_message'] } },
  );
  const document = { message: 'card 4111111111111111' };
  sluice.rules()?.apply(document, { messageId: '1', receiver: 'r' });
  t.equal(document.message, 'card ********');
  t.match(await told('GET', `${plugin}/configuration`), {
    status: 200,
    body: {
      'is-obfuscation-enabled': true,
      'text-replacer': 'Static Star Replacer',
      'stream-titles': ['All messages'],
    },
  });
  t.match(
    await world.ask('POST', `${plugin}/configuration`, {
      body: {
        'stream-titles': ['Audit logs'],
        'sensitive-regular-expressions': [{ id: 0, name: 'Zero', pattern: 'secret\\d', importance: 2 }],
      },
    }),
    { statusCode: 200, body: 'Success' },
  );
  t.match((await told('GET', `${plugin}/configuration`)).body, {
    'stream-titles': ['Audit logs'],
    'sensitive-regular-expressions': [{ id: 0, name: 'Zero', importance: 2 }],
    'is-obfuscation-enabled': true,
  });
  await expectStatuses(t, world, [
    ['admin', 'PUT', base, 400, { patterns: [{ id: 'bad', pattern: '(?=x)' }] }],
    ['admin', 'PUT', base, 400, { streams: ['nowhere'] }],
    ['admin', 'POST', `${base}/try`, 400, { text: 'x', patterns: [{ id: 'bad', pattern: '(' }] }],
    [
      'admin',
      'POST',
      `${plugin}/configuration`,
      400,
      {
        'sensitive-regular-expressions': [
          { id: 1, name: 'a', pattern: 'a' },
          { id: 1, name: 'b', pattern: 'b' },
        ],
      },
    ],
    ['admin', 'GET', `${plugin}/replacers`, 200],
    ['operator', 'GET', base, 403],
    ['operator', 'PUT', base, 403, {}],
    ['operator', 'DELETE', base, 403],
    ['operator', 'POST', `${base}/try`, 403, { text: 'x' }],
    ['operator', 'GET', `${plugin}/configuration`, 403],
    ['operator', 'POST', `${plugin}/configuration`, 403, {}],
    ['operator', 'POST', plugin, 403, { text: 'x' }],
    ['admin', 'DELETE', base, 204],
    ['admin', 'DELETE', base, 204],
  ]);
  t.match((await told('GET', base)).body, { enabled: false, streams: ['audit-logs'] });
});
