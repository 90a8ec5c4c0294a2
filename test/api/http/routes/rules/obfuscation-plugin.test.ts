/** The obfuscation as scripts of Graylog's plugin ask for it: forms, plain texts, the word Success. */
import t from 'tap';
import { apiRoutes } from '../../../../../api/http/routes.js';
import { startRunning } from '../running.js';

const files = { 'own.yaml': 'obfuscation: {patterns: [{id: order, title: Order number, pattern: "order-[0-9]+"}]}' };
const world = await startRunning(t, { routes: apiRoutes, files });
const { told, ask } = world;
const plugin = '/api/plugins/org.example.obfuscation/obfuscation';
const configuration = `${plugin}/configuration`;
const text = { 'content-type': 'text/plain; charset=utf-8' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

type Entry = {
  readonly id: string | number;
  readonly name: string;
  readonly pattern: string;
  readonly importance?: number;
};
const entries = async (): Promise<readonly Entry[]> =>
  (
    (await told('GET', configuration)).body as unknown as { readonly 'sensitive-regular-expressions': readonly Entry[] }
  )['sensitive-regular-expressions'];
const ids = async (): Promise<(string | number)[]> => (await entries()).map(({ id }) => id);
const sync = (mode: string) => ask('PUT', `${configuration}/sync`, { body: `sync_mode=${mode}`, headers: form });
const set = (list: readonly Entry[]) => ask('POST', configuration, { body: { 'sensitive-regular-expressions': list } });

t.test('a plain text is tried, as bytes of a form or JSON are elsewhere', async (t) => {
  const answer = {
    obfuscatedText: 'it is ******** and ********',
    foundSensitiveData: [
      { start: 6, end: 17, sensitiveText: '123-45-6789', finder: 'us-ssn' },
      { start: 22, end: 30, sensitiveText: 'order-77', finder: 'order' },
    ],
  };
  t.same(await told('POST', plugin, { body: 'it is 123-45-6789 and order-77', headers: text }), {
    status: 200,
    body: answer,
  });
  t.same(await told('POST', plugin, { body: { text: 'it is 123-45-6789 and order-77' } }), {
    status: 200,
    body: answer,
  });
  t.same((await told('POST', plugin, { body: '', headers: text })).body, {
    obfuscatedText: '',
    foundSensitiveData: [],
  });
  t.match(
    (await told('POST', plugin, { body: '{"text": "order-1"}', headers: text })).body,
    { obfuscatedText: '{"text": "********"}' },
    'a text that looks like JSON is a text',
  );
  t.equal((await told('POST', plugin, { body: 'x'.repeat(1_000_001), headers: text })).status, 400);
  t.equal((await told('POST', plugin, { body: 'a=b', headers: form })).status, 415);
  t.equal((await told('POST', configuration, { body: '{}', headers: text })).status, 415, 'other routes take no text');
  t.equal((await told('POST', '/api/views/search', { body: 'a=b', headers: form })).status, 415);
});

t.test('only patterns that cannot be used come back from the compile test', async (t) => {
  const test = `${plugin}/regex/compile/test`;
  t.same((await ask('POST', test, { body: ['a+', '(?=x)', '(', '\\d{3}'] })).json(), ['(?=x)', '(']);
  t.same(
    (
      await ask('POST', test, {
        body: [
          { id: 1, name: 'Good', pattern: 'a' },
          { id: 2, name: 'Bad', pattern: 'a)(', importance: 2 },
        ],
      })
    ).json(),
    [{ id: 2, name: 'Bad', pattern: 'a)(', importance: 2 }],
  );
  t.same((await ask('POST', test, { body: [] })).json(), []);
  t.equal((await told('POST', test, { body: { patterns: [] } })).status, 400);
  t.equal((await told('POST', test, { as: 'operator', body: [] })).status, 403);
  t.same((await ask('GET', `${plugin}/replacers`)).json(), ['Static Star Replacer']);
});

t.test(
  'sync: what was edited stays or is overwritten, what was taken away comes back, own entries survive',
  async (t) => {
    const [ssn, ...others] = await entries();
    t.same(await ids(), ['us-ssn', 'passport-number', 'iccid', 'order']);
    const own: Entry = { id: 7, name: 'Seven', pattern: 'seven', importance: 3 };
    t.equal((await set([{ ...(ssn as Entry), pattern: 'edited' }, own])).body, 'Success');
    t.same(await ids(), ['us-ssn', 7], 'others were taken away');

    for (const mode of ['skip', 'SKIP']) t.equal((await sync(mode)).body, 'Success');
    t.same(await ids(), ['us-ssn', 7]);

    for (const mode of ['create-only', 'CREATE_ONLY', 'ONLY_CREATE', 'only-create']) {
      await set([{ ...(ssn as Entry), pattern: 'edited' }, own]);
      const answer = await sync(mode);
      t.match([answer.statusCode, answer.body, answer.headers['content-type']], [200, 'Success', /^text\/plain/]);
      t.same((await ids()).sort(), [7, 'iccid', 'order', 'passport-number', 'us-ssn'], mode);
      t.match(
        (await entries()).find(({ id }) => id === 'us-ssn'),
        { pattern: 'edited' },
      );
    }
    t.equal(
      (await ask('PUT', `${configuration}/sync`, { body: { sync_mode: 'FORCE_UPDATE' } })).body,
      'Success',
      'JSON is taken too',
    );
    t.match(
      (await entries()).find(({ id }) => id === 'us-ssn'),
      ssn,
    );
    t.match(
      (await entries()).find(({ id }) => id === 7),
      own,
    );
    t.same(
      (await entries()).filter(({ id }) => others.some((one) => one.id === id)),
      others,
    );

    t.match(await told('PUT', `${configuration}/sync`, { body: 'sync_mode=everything', headers: form }), {
      status: 400,
      body: { path: 'sync_mode' },
    });
    t.equal((await sync('__proto__')).statusCode, 400);
    t.equal((await told('PUT', `${configuration}/sync`, { body: 'mode=skip', headers: form })).status, 400);
    t.equal(
      (await told('PUT', `${configuration}/sync`, { as: 'operator', body: 'sync_mode=skip', headers: form })).status,
      403,
    );
    t.equal(
      (
        await told('PUT', `${configuration}/sync`, {
          body: 'sync_mode=skip',
          headers: { ...form, 'content-length': '70000' },
        })
      ).status,
      413,
    );
  },
);

t.test('reset goes back to the files, restore keeps what is stored', async (t) => {
  await ask('POST', configuration, {
    body: { 'is-obfuscation-enabled': true, 'text-replacer': 'gone', 'field-names': ['user'] },
  });
  t.equal((await ask('PUT', `${configuration}/restore`)).body, 'Success');
  t.match((await told('GET', configuration)).body, {
    'is-obfuscation-enabled': true,
    'text-replacer': 'gone',
    'field-names': ['user'],
  });
  for (let time = 0; time < 2; time += 1) t.equal((await ask('PUT', `${configuration}/reset`)).body, 'Success');
  t.match((await told('GET', configuration)).body, {
    'is-obfuscation-enabled': false,
    'text-replacer': 'Static Star Replacer',
    'field-names': ['message', 'full_message'],
  });
  t.same(await ids(), ['us-ssn', 'passport-number', 'iccid', 'order']);
  for (const path of ['reset', 'restore'])
    t.equal((await told('PUT', `${configuration}/${path}`, { as: 'operator' })).status, 403);
  t.ok(
    ['obfuscation:sync', 'obfuscation:reset', 'obfuscation:restore', 'obfuscation:update'].every((action) =>
      world.recorded.some((message) => JSON.stringify(message).includes(action)),
    ),
    'all are recorded',
  );
});
