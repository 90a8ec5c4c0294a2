/**
 * What may be read by whom, in every answer: each message has a mark in all its texts, and no answer holds a mark that
 * its asker may not see.
 */
import t from 'tap';
import { apiIdOf } from '../../../../core/object-ids.js';
import { until } from '../../../access/support.js';
import { askerOf, askers, documentsSeenBy, marks, marksIn, nobody, startMatrix, type Asker } from './world.js';
import { askedElsewhere, everything, jsonOf, questionsOf, search } from './questions.js';
import { routeRows } from './route-rows.js';
import { basic } from '../world.js';

const world = await startMatrix(t);
const { askAs, stored, table } = world;
const questions = questionsOf(world);
const known = askers.filter((asker) => asker !== nobody);
/** Names of a stream that who may not read it does not meet anywhere. */
const hiddenStream = (asker: Asker, text: string): boolean =>
  !asker.reads.includes('bravo') && (/bravo/i.test(text) || text.includes(apiIdOf('bravo')));

t.test('every route that shows messages is asked', async (t) => {
  t.equal((await askAs('Admin', 'POST', '/api/views/search', { body: search })).statusCode, 201);
  const asked = new Set([...Object.keys(questions), ...askedElsewhere]);
  t.same(
    [...routeRows]
      .filter(([, { shows }]) => shows === 'messages')
      .map(([name]) => name)
      .filter((name) => !asked.has(name)),
    [],
  );
});

for (const [route, asked] of Object.entries(questions)) {
  t.test(route, async (t) => {
    for (const [place, { ask, count, told, only, of = marks }] of asked.entries()) {
      for (const asker of known) {
        const seen = await ask(asker.name);
        const title = `${asker.name}, question ${place + 1}`;
        if (only !== undefined && !only(asker)) {
          t.ok([403, 404].includes(seen.status), `${title}: ${seen.status}`);
          t.same(marksIn(seen.text), [], title);
          continue;
        }
        t.equal(seen.status, 200, `${title}: ${seen.text.slice(0, 300)}`);
        t.same([...marksIn(told(seen))].sort(), asker.sees.filter((mark) => of.includes(mark)).sort(), title);
        t.notOk(
          hiddenStream(asker, told(seen).replaceAll('markbravo', '')),
          `${title} meets no stream that it may not read`,
        );
        if (count !== undefined) t.equal(count(seen), documentsSeenBy(asker), `${title} counts`);
      }
      t.same(marksIn((await ask('')).text), [], 'nobody');
    }
  });
}

t.test('one message by its id', async (t) => {
  for (const { name, sees, administrator } of known) {
    for (const mark of marks) {
      for (const { index, id } of stored.get(mark) ?? []) {
        const answer = await askAs(name, 'GET', `/api/messages/${index}/${encodeURIComponent(id)}`);
        const may = sees.includes(mark) || (mark === 'markletter' && administrator);
        t.equal(answer.statusCode, may ? 200 : 404, `${name} ${mark}`);
        t.same(marksIn(answer.body), may ? [mark] : [], `${name} ${mark}`);
        t.notOk(hiddenStream(askerOf(name), answer.body), `${name} ${mark}`);
      }
    }
  }
});

t.test('dead letters are for administrators', async (t) => {
  for (const [route, { shows }] of routeRows) {
    if (shows !== 'letters') continue;
    const id = stored.get('markletter')?.[0]?.id ?? '';
    const path = (route.split(' ')[1] ?? '').replace(':letterId', encodeURIComponent(id));
    for (const { name, administrator } of askers) {
      const answer = await askAs(name, 'GET', path);
      t.equal(answer.statusCode, administrator ? 200 : name === '' ? 401 : 403, `${name} ${path}`);
      if (!administrator) t.same(marksIn(answer.body), []);
    }
  }
  t.match((await askAs('Admin', 'GET', '/api/dead-letters')).body, /markletter/);
});

const ids: Readonly<Record<string, readonly string[]>> = {
  streamId: ['alpha', 'bravo', 'audit-logs'],
  outputId: ['forwarder'],
  ruleId: ['own-containers', 'by-lane', 'x'],
  indexSetId: ['sluice_default', 'sluice_audit', 'sluice_dead_letters'],
  inputId: ['gelf-tcp'],
  name: ['Reader', 'Administrator'],
  username: ['Admin', 'reader'],
  plugin: ['org.example'],
  id: [search.id, 'b'.repeat(24)],
  file: ['start.js'],
  jobId: ['x'],
  letterId: ['x'],
};
const bodies: Readonly<Record<string, unknown>> = {
  'POST /api/streams/:streamId/testMatch': { message: { short_message: 'x', host: 'y' } },
  'POST /api/rules/:ruleId/try': { message: { short_message: 'x', host: 'y' } },
  'POST /api/rules/try': {
    when: { always: true },
    then: [{ set: { field: 'seen', value: 'yes' } }],
    message: { short_message: 'x', host: 'y', _lane: 3 },
  },
  'POST /api/search/validate': { query: 'markbravo_field:markbravovalue' },
  'POST /api/views/search/metadata': search,
  'POST /api/system/obfuscation/try': { text: 'x' },
  'POST /api/plugins/:plugin/obfuscation': { text: 'x' },
};

function pathsOf(url: string): readonly string[] {
  const parameter = /:(\w+)/.exec(url)?.[1];
  return parameter === undefined
    ? [url]
    : (ids[parameter] ?? ['x']).flatMap((id) => pathsOf(url.replace(`:${parameter}`, id)));
}

t.test('no other answer holds anything of a message, or a stream that may not be read', async (t) => {
  const wrong: string[] = [];
  for (const { method, url } of table.routes) {
    const name = `${method} ${url}`;
    if (
      !['nothing', 'numbers'].includes(routeRows.get(name)?.shows ?? '') ||
      (method !== 'GET' && bodies[name] === undefined) ||
      name.startsWith('GET /api/api-browser')
    )
      continue;
    for (const path of pathsOf(url)) {
      for (const asker of askers) {
        const { body, statusCode } = await askAs(
          asker.name,
          method,
          path,
          bodies[name] === undefined ? {} : { body: bodies[name] },
        );
        const echoed = body
          .replaceAll('markbravo_field:markbravovalue', '')
          .replaceAll(path, '')
          .replaceAll(name === 'POST /api/search/validate' ? 'markbravo_field' : path, '');
        if (marksIn(echoed).length > 0) wrong.push(`${asker.name} ${method} ${path}: ${marksIn(echoed).join(' ')}`);
        if (hiddenStream(asker, echoed))
          wrong.push(`${asker.name} ${method} ${path} (${statusCode}): the stream bravo`);
        if (statusCode >= 500) wrong.push(`${asker.name} ${method} ${path}: ${statusCode} ${body}`);
      }
    }
  }
  t.same(wrong, []);
});

t.test('numbers of index sets count what may be read', async (t) => {
  const base = '/api/system/indices/index_sets';
  const shipped = jsonOf({ status: 200, text: (await askAs('Admin', 'GET', `${base}/stats`)).body });
  for (const asker of known) {
    const { name, capabilities, administrator } = asker;
    if (!capabilities.includes('system:read')) continue;
    const told = async (path: string) => (await askAs(name, 'GET', path)).json<Record<string, unknown>>();
    const readsAll = asker.reads.includes('audit-logs');
    const all = await told(`${base}/stats`);
    t.equal(
      all['documents'],
      documentsSeenBy(asker) + (administrator ? 1 : 0),
      `${name}: dead letters count for administrators`,
    );
    t.equal(all['size'] !== null, administrator, `${name}: bytes`);
    t.equal(all['indices'], shipped['indices']);
    const audit = await told(`${base}/sluice_audit/stats`);
    t.same([audit['documents'], audit['size'] === null], readsAll ? [2, false] : [0, true], name);
    const deadLetters = await told(`${base}/sluice_dead_letters/stats`);
    t.same([deadLetters['documents'], deadLetters['size'] === null], administrator ? [1, false] : [0, true], name);
    const { stats } = (await told(`${base}?stats=true`)) as {
      stats: Record<string, { documents: number; size: number | null }>;
    };
    t.equal(
      Object.values(stats).reduce((sum, one) => sum + one.documents, 0),
      all['documents'],
      name,
    );
    const { indices } = (await told('/api/system/indexer/indices')) as {
      indices: Record<string, { documents: number | null; size_bytes: number | null; index_set: string }>;
    };
    for (const { documents, size_bytes: bytes, index_set: indexSet } of Object.values(indices)) {
      const counted = administrator || (readsAll && indexSet !== 'sluice_dead_letters');
      t.same([documents === null, bytes === null], [!counted, !counted], `${name} ${indexSet}`);
    }
    const metrics = (await askAs(name, 'GET', '/api/metrics/prometheus')).body;
    t.match(metrics, /^sluice_messages_appended_total/m, 'the system as a whole is told');
    t.equal(/[{,](?:stream|rule|index_set|output)="/.test(metrics), administrator, `${name}: metrics of parts`);
    for (const path of ['/api/system/outputs/forwarder', '/api/system/outputs/forwarder/state']) {
      const output = await told(path);
      const state = (
        output['state'] !== null && typeof output['state'] === 'object' ? output['state'] : output
      ) as Record<string, unknown>;
      const counted = asker.reads.includes('bravo');
      for (const figure of ['lag', 'sent', 'failed', 'dropped', 'unconfirmed_messages'])
        t.equal(state[figure] !== null, counted, `${name} ${path} ${figure}`);
    }
  }
});

t.test('a field that occurs only in hidden messages answers as one that is nowhere', async (t) => {
  const strange = 'markzzzzz';
  for (const asker of ['reader', 'reads-alpha', 'Operator']) {
    const hidden = asker === 'Operator' ? 'markaudit' : 'markbravo';
    for (const field of [`${hidden}_field`, `${hidden}_number`]) {
      const other = field.replace(hidden, strange);
      const answers = async (name: string): Promise<readonly unknown[]> => {
        const asked: readonly (readonly [string, string, unknown?])[] = [
          ['GET', `/api/search/universal/relative?range=0&sort=${name}:asc`],
          ['GET', `/api/search/universal/relative?range=0&query=_exists_:${name}`],
          ['GET', `/api/search/universal/relative?range=0&query=NOT%20${name}:7`],
          ['GET', `/api/search/universal/relative?range=0&query=${name}:%3E3`],
          ['GET', `/api/search/universal/relative?range=0&query=${name}:/.*/`],
          ['GET', `/api/search/universal/relative?range=0&query=${name}:mark*`],
          ['POST', '/api/search/validate', { query: `${name}:x` }],
          ['POST', '/api/search/suggest', { field: name, input: 'mark', timerange: everything }],
          ...['avg', 'min', 'max', 'sum', 'card', 'percentile'].map(
            (metric) =>
              [
                'POST',
                '/api/search/aggregate',
                {
                  timerange: everything,
                  group_by: [],
                  metrics: [{ function: metric, field: name, configuration: { percentile: 50 } }],
                },
              ] as const,
          ),
          [
            'POST',
            '/api/search/aggregate',
            { timerange: everything, group_by: [{ field: name }], metrics: [{ function: 'count' }] },
          ],
          ['POST', '/api/views/search/messages', { timerange: everything, fields_in_order: ['source', name] }],
          [
            'POST',
            '/api/views/search/sync',
            {
              queries: [
                {
                  ...search.queries[0],
                  search_types: [
                    {
                      id: 'p',
                      type: 'pivot',
                      row_groups: [{ type: 'values', fields: [name] }],
                      series: [{ type: 'avg', field: name, id: 'a' }],
                      rollup: true,
                    },
                  ],
                },
              ],
            },
          ],
        ];
        const results: unknown[] = [];
        for (const [method, path, body] of asked) {
          const answer = await askAs(asker, method, path, body === undefined ? {} : { body });
          const steady = answer.body
            .replaceAll(name, 'FIELD')
            .replaceAll(/"(?:time|duration)":\d+/g, '')
            .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
            .replaceAll(/"[0-9a-f]{24}"/g, 'ID');
          results.push([method, path.replaceAll(name, 'FIELD'), answer.statusCode, steady]);
        }
        return results;
      };
      t.same(await answers(field), await answers(other), `${asker}: ${field}`);
    }
  }
});

t.test('results of a search stay with the rights that they were made with', async (t) => {
  const { access } = world;
  const roleName = 'role of passing by';
  const by = await access.authenticate(
    { kind: 'password', username: 'Admin', password: 'admin-secret' },
    { address: '127.0.0.1' },
  );
  await access.createRole(by, roleName, '', ['streams:read:bravo']);
  await access.createUser(by, 'passer-by', 'passer-by-secret', { roles: [roleName] });
  const { sessionId } = await access.openSession('passer-by', 'passer-by-secret', { address: '127.0.0.1' });
  const asked = (method: string, path: string, body?: unknown) =>
    world.ask(method, path, {
      as: '',
      headers: { authorization: basic(sessionId, 'session') },
      ...(body === undefined ? {} : { body }),
    });
  const { id } = (await asked('POST', `/api/views/search/${search.id}/execute`, {})).json<{ id: string }>();
  await until(
    async () =>
      (await asked('GET', `/api/views/search/status/${id}`)).json<{ execution: { done: boolean } }>().execution.done,
  );
  t.match((await asked('GET', `/api/views/search/status/${id}`)).body, /markbravo/);
  await access.changeRole(by, roleName, { permissions: [] });
  const after = await asked('GET', `/api/views/search/status/${id}`);
  t.ok([200, 404].includes(after.statusCode), 'gone, or found anew with the rights of now');
  t.same(marksIn(after.body), []);
});

t.test('a live tail', async (t) => {
  await world.start();
  const { port } = world.address();
  const ending = new AbortController();
  t.teardown(() => ending.abort());
  const texts = new Map<string, string>();
  const follow = async ({ name }: Asker): Promise<void> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/search/tail`, {
      headers: { authorization: world.authorizationOf(name), accept: 'text/event-stream' },
      signal: ending.signal,
    });
    const decoder = new TextDecoder();
    texts.set(name, '');
    void (async () => {
      for await (const bytes of answer.body ?? [])
        texts.set(name, `${texts.get(name) ?? ''}${decoder.decode(bytes as Uint8Array, { stream: true })}`);
    })().catch(() => undefined);
  };
  const followers = known.filter(({ name }) =>
    ['no-role', 'reader', 'Operator', 'AuditViewer', 'reads-alpha', 'edits-alpha', 'Admin', 'can-rules-edit'].includes(
      name,
    ),
  );
  for (const asker of followers) await follow(asker);
  await until(() => followers.every(({ name }) => (texts.get(name) ?? '').includes('retry')));
  // The first batch of a tail is what is old: only from then on is a message new.
  await until(async () => {
    world.send();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return followers.every(({ name, sees }) => sees.every((mark) => texts.get(name)?.includes(mark)));
  });
  for (const { name, sees } of followers) t.same([...marksIn(texts.get(name) ?? '')].sort(), [...sees].sort(), name);
});
