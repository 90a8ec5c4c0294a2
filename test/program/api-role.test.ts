/**
 * What is done to index sets and dead letters through a process of the API alone, while another one receives, processes
 * and stores.
 */
import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { createOpenSearchClient } from '../../core/opensearch-client.js';
import { openSearchNode, skipWithoutKafka, skipWithoutOpenSearch } from '../engines.js';
import { until, workedOff, type Program } from '../program.js';
import { createCluster } from './cluster.js';
import { deadLettersVerb, listDeadLetters, sendFrames } from './dead-letters/verb.js';

const skip = skipWithoutKafka().skip === false ? skipWithoutOpenSearch().skip : skipWithoutKafka().skip;
const authorization = `Basic ${Buffer.from('Admin:admin-first-password').toString('base64')}`;
const first_passwords = {
  admin: 'admin-first-password',
  operator: 'operator-first-password',
  audit_viewer: 'viewer-first-password',
};
const set = 'sluice_default';
const [indexSets, indices, deadLetters, deflector] = [
  '/api/system/indices/index_sets',
  '/api/system/indexer/indices',
  '/api/dead-letters',
  `/api/system/deflector/${set}/cycle`,
];
const waitMostMs = 60_000;

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

interface World {
  readonly worker: Program;
  readonly api: Program;
  readonly source: string;
  ask(method: string, path: string, body?: object): Promise<Answer>;
  send(texts: readonly string[]): Promise<void>;
  /** How often each text of this world is found. */
  found(expected: number): Promise<ReadonlyMap<string, number>>;
  current(): Promise<string>;
  stateOf(index: string): Promise<string | undefined>;
}

async function createWorld(t: Test): Promise<World> {
  const cluster = await createCluster(t, { settings: { access: { first_passwords } }, topics: { partitions: 2 } });
  const worker = await cluster.start('worker', 'all', {
    api: { enabled: false },
    processing: { group: cluster.group, rotation_check_ms: 1_000, retention_check_ms: 1_000 },
    receivers: [
      { type: 'gelf_http', host: '127.0.0.1', port: 0 },
      { type: 'gelf_tcp', host: '127.0.0.1', port: 0 },
    ],
  });
  const api = await cluster.start('api', 'api');
  const port = /API +http:\/\/127\.0\.0\.1:(\d+)/.exec(api.output())?.[1] ?? '';
  const source = `api-role-${randomBytes(4).toString('hex')}`;
  const ask: World['ask'] = async (method, path, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization, 'x-requested-by': 'test', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
  };
  const texts = async (): Promise<readonly string[]> => {
    const { body } = await ask('POST', '/api/search/messages', {
      query: `source:"${source}"`,
      timerange: { type: 'relative', range: 0 },
      fields: ['message'],
      size: 10_000,
    });
    return ((body['datarows'] ?? []) as readonly (readonly string[])[]).map(([text = '']) => text);
  };
  return {
    worker,
    api,
    source,
    ask,
    async send(sent) {
      const body = sent.map((text) => JSON.stringify({ host: source, short_message: text })).join('\n');
      t.equal((await fetch(`http://127.0.0.1:${worker.port('gelf-http')}/gelf`, { method: 'POST', body })).status, 202);
    },
    async found(expected) {
      await workedOff(worker);
      const all = await until(
        async () => {
          const now = await texts();
          return now.length >= expected ? now : undefined;
        },
        waitMostMs,
        () => `no ${expected} messages are found\n${worker.output().slice(-3_000)}`,
      );
      return new Map([...new Set(all)].map((text) => [text, all.filter((one) => one === text).length]));
    },
    current: async () => (await worker.status()).epoch.indices[set] as string,
    async stateOf(index) {
      const { body } = await ask('GET', indices);
      return (body['indices'] as Readonly<Record<string, { readonly state: string }>>)[index]?.state;
    },
  };
}

t.test(
  'an index set is rotated by the API while processors write and rotate: each message is stored once',
  { skip, timeout: 300_000 },
  async (t) => {
    const world = await createWorld(t);
    const { worker, ask, current } = world;
    const first = await current();
    t.same(await ask('POST', deflector), { status: 204, body: {} });
    await until(
      async () => ((await current()) === first ? undefined : true),
      waitMostMs,
      () => 'the processor does not follow',
    );

    const sent: string[] = [];
    const rotations: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      const texts = Array.from({ length: 50 }, (_, at) => `message ${round}-${at}`);
      sent.push(...texts);
      const [answer] = await Promise.all([
        ask('POST', deflector),
        worker.control.request('POST', '/rotate', { index_set: set }),
        world.send(texts),
      ]);
      rotations.push(answer.status);
    }
    t.same(
      rotations.filter((status) => ![204, 409].includes(status)),
      [],
    );
    const found = await world.found(sent.length);
    t.same(
      sent.filter((text) => found.get(text) !== 1),
      [],
    );
    t.match(await ask('POST', '/api/system/deflector/no_such_set/cycle'), { status: 404 });

    // The words of the command line, beside this process.
    const before = await current();
    t.same(await world.api.control.request('POST', '/rotate', { index_set: set }), { rotated: true });
    await until(
      async () => ((await current()) === before ? undefined : true),
      waitMostMs,
      () => 'the processor does not follow',
    );
  },
);

t.test(
  'indices are closed, opened again and deleted by the API, and a deleted set takes its indices along',
  { skip, timeout: 300_000 },
  async (t) => {
    const world = await createWorld(t);
    const { ask, current, stateOf, send } = world;
    const first = await current();
    await send(['in the first']);
    await world.found(1);
    t.match(await ask('POST', `${indices}/${first}/close`), {
      status: 403,
      body: { message: /Messages are written to this index/ },
    });
    t.match(await ask('DELETE', `${indices}/nothing_0`), { status: 404 });
    t.equal((await ask('POST', deflector)).status, 204);
    await until(
      async () => ((await current()) === first ? undefined : true),
      waitMostMs,
      () => 'the processor does not follow',
    );
    const inState = (index: string, state: string | undefined) =>
      until(
        async () => {
          await send(['goes on']);
          return (await stateOf(index)) === state ? true : undefined;
        },
        waitMostMs,
        () =>
          `${index} does not become ${state}\n${world.worker.output().slice(-3_000)}\n${world.api.output().slice(-3_000)}`,
      );
    t.equal((await ask('POST', `${indices}/${first}/close`)).status, 204);
    await inState(first, 'closed');
    t.equal((await ask('POST', `${indices}/${first}/reopen`)).status, 204);
    t.match((await ask('GET', `${indices}/reopened`)).body, {
      total: 1,
      indices: { [first]: { state: 'open', reopened: true } },
    });
    await until(
      async () => ((await world.found(2)).get('in the first') === 1 ? true : undefined),
      waitMostMs,
      () =>
        `a message of the index is not found\n${world.worker.output().slice(-3_000)}\n${world.api.output().slice(-3_000)}`,
    );
    t.equal((await ask('DELETE', `${indices}/${first}`)).status, 204);
    await inState(first, undefined);
    t.notOk((await world.found(1)).has('in the first'));

    const own = `own_${world.source.slice(-8)}`;
    t.match(await ask('POST', indexSets, { index_prefix: own, title: 'Own' }), { status: 200 });
    await until(
      async () => ((await ask('POST', `/api/system/deflector/${own}/cycle`)).status === 204 ? true : undefined),
      waitMostMs,
      () => 'no processor takes the set over',
    );
    t.equal(await stateOf(`${own}_1`), 'open');
    t.same(await ask('DELETE', `${indexSets}/${own}`), { status: 204, body: {} });
    const listed = async (): Promise<number> =>
      (
        (await (
          await fetch(`${openSearchNode()}/_cat/indices/${own}_*?format=json&expand_wildcards=all`)
        ).json()) as readonly unknown[]
      ).length;
    await until(
      async () => {
        await send(['goes on']);
        return (await listed()) === 0 ? true : undefined;
      },
      waitMostMs,
      () => `its indices stay\n${world.worker.output().slice(-3_000)}`,
    );
  },
);

t.test('dead letters are listed, shown, replayed and dropped by the API', { skip, timeout: 300_000 }, async (t) => {
  const world = await createWorld(t);
  const { worker, api, ask, source } = world;
  const index = await world.current();
  const client = createOpenSearchClient({ nodes: [openSearchNode() as string], requestTimeoutMs: 20_000 });
  t.teardown(async () => {
    await client.request({ method: 'DELETE', path: `/_ingest/pipeline/${source}` });
    await client.close();
  });
  /** The index refuses messages with the word poison, for a text in a number field. */
  const poison = async (on: boolean): Promise<void> => {
    const processors = on
      ? [{ set: { if: 'ctx.message != null && ctx.message.contains("poison")', field: 'level', value: 'poisoned' } }]
      : [];
    await client.request({ method: 'PUT', path: `/_ingest/pipeline/${source}`, body: { processors } });
    await client.request({ method: 'PUT', path: `/${index}/_settings`, body: { 'index.default_pipeline': source } });
  };
  const list = async (
    query = '',
  ): Promise<readonly { readonly id: string; readonly document: Readonly<Record<string, unknown>> }[]> =>
    (await ask('GET', `${deadLetters}${query}`)).body['dead_letters'] as never;
  const ended = async (begun: Answer): Promise<Answer['body']> => {
    t.equal(begun.status, 202);
    return until(
      async () => {
        const { body } = await ask('GET', `${deadLetters}/jobs/${String(begun.body['id'])}`);
        return body['state'] === 'running' ? undefined : body;
      },
      waitMostMs,
      () => `the job does not end\n${api.output().slice(-3_000)}`,
    );
  };

  t.same(await list(), []);
  await poison(true);
  await world.send(['good', 'poison']);
  await sendFrames(worker.port('gelf-tcp'), ['{"short_message": "no JSON']);
  const open = await until(
    async () => {
      const now = await list();
      return now.length === 2 ? now : undefined;
    },
    waitMostMs,
    () => `no letters\n${worker.output().slice(-3_000)}`,
  );
  const refused = open.find(({ document }) => document['code'] === 'STORE_DOCUMENT_REFUSED');
  const broken = open.find((deadLetter) => deadLetter !== refused);
  t.match(refused?.document, { index_set: set, index, state: 'open', replays: 0 });
  t.match(await ask('GET', `${deadLetters}/${encodeURIComponent(refused?.id ?? '')}`), {
    status: 200,
    body: { id: refused?.id },
  });
  t.match((await ask('GET', '/api/system/indexer/failures')).body, { total: 2 });
  t.match((await ask('GET', '/api/system/indexer/failures/count')).body, { count: 2 });

  t.match(await ended(await ask('POST', `${deadLetters}/replay`, { ids: [refused?.id], dry_run: true })), {
    state: 'done',
    report: { index_sets: { [set]: 1 } },
  });
  t.match(
    await ended(await ask('POST', `${deadLetters}/replay`, { ids: [refused?.id] })),
    { state: 'done', report: { failed: 1 } },
    'the index still refuses it',
  );
  await poison(false);
  const both = await Promise.all([
    ended(await ask('POST', `${deadLetters}/replay`, { ids: [refused?.id] })),
    deadLettersVerb(worker, 'replay', [refused?.id ?? '']),
  ]);
  t.equal(both[0]['state'], 'done', JSON.stringify(both));
  const stored = await world.found(2);
  t.same(
    [...stored].sort(),
    [
      ['good', 1],
      ['poison', 1],
    ],
    'replayed by two processes, stored once',
  );
  t.match(await list('?state=replayed'), [{ id: refused?.id, document: { replays: 1 } }]);
  t.match(await ended(await ask('POST', `${deadLetters}/drop`, { ids: [broken?.id] })), {
    state: 'done',
    report: { dropped: 1 },
  });
  t.match(await list('?state=dropped'), [{ id: broken?.id, document: { dropped_by: 'Admin' } }]);
  t.same(await list(), []);
  t.same(
    (await listDeadLetters(api, { state: 'all' })).map(({ _id }) => _id).sort(),
    open.map(({ id }) => id).sort(),
    'and by the command line beside this process',
  );
});
