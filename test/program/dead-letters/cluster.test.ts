/**
 * Documents that OpenSearch refuses: dead-lettered once, replayed once, whatever is killed, rotated or replayed beside
 * it.
 */
import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { createOpenSearchClient, type OpenSearchClient } from '../../../core/opensearch-client.js';
import { kafkaBrokers, openSearchNode, skipWithoutKafka, skipWithoutOpenSearch } from '../../engines.js';
import { deleteTopics } from '../kafka-topics.js';
import { isTombstones, startHttpProxy } from '../../faults/causes/http-proxy.js';
import { receiversOnFreePorts, startProgram, testFolder, until, workedOff, type Program } from '../../program.js';
import { deadLettersVerb, listDeadLetters, search, untilDeadLetters } from './verb.js';

t.setTimeout(300_000);
const skip = skipWithoutKafka().skip === false ? skipWithoutOpenSearch() : skipWithoutKafka();

interface World {
  readonly name: string;
  readonly client: OpenSearchClient;
  /** Starts, or starts again on the same data. */
  start(store?: string): Promise<Program>;
  send(program: Program, texts: readonly string[]): Promise<void>;
  /** From now on the index refuses messages with the word poison, for a text in a number field, or no more. */
  poison(index: string, on: boolean): Promise<void>;
  /** How often each text of this world is stored, by index. */
  stored(program: Program): Promise<Map<string, string[]>>;
}

async function createWorld(t: Test): Promise<World> {
  const name = `letters-${randomBytes(4).toString('hex')}`;
  const client = createOpenSearchClient({ nodes: [openSearchNode() as string], requestTimeoutMs: 20_000 });
  const folder = testFolder(t);
  const indices = new Set<string>();
  t.teardown(async () => {
    for (const index of [...indices, name]) await client.request({ method: 'DELETE', path: `/${index}` });
    await client.request({ method: 'DELETE', path: `/_ingest/pipeline/${name}` });
    await client.close();
    await deleteTopics(name);
  });
  const note = async (program: Program): Promise<void> => {
    for (const index of Object.values((await program.status()).epoch.indices)) indices.add(index);
  };
  return {
    name,
    client,
    async start(store = openSearchNode()) {
      const program = await startProgram(t, {
        folder,
        settings: {
          topics: { kind: 'kafka', prefix: `${name}.`, partitions: 2, kafka: { brokers: [kafkaBrokers()] } },
          processing: { group: name },
          store: { kind: 'opensearch', opensearch: { nodes: [store], state_index: name } },
          receivers: receiversOnFreePorts.map((receiver) =>
            receiver.type === 'gelf_http' ? { ...receiver, name } : receiver,
          ),
        },
      });
      await note(program);
      return program;
    },
    async send(program, texts) {
      const body = texts.map((text) => JSON.stringify({ host: name, short_message: text })).join('\n');
      t.equal(
        (await fetch(`http://127.0.0.1:${program.port('gelf-http')}/gelf`, { method: 'POST', body })).status,
        202,
      );
    },
    async poison(index, on) {
      const processors = on
        ? [{ set: { if: 'ctx.message != null && ctx.message.contains("poison")', field: 'level', value: 'poisoned' } }]
        : [];
      await client.request({ method: 'PUT', path: `/_ingest/pipeline/${name}`, body: { processors } });
      await client.request({ method: 'PUT', path: `/${index}/_settings`, body: { 'index.default_pipeline': name } });
    },
    async stored(program) {
      await note(program);
      const found = new Map<string, string[]>();
      for (const { _index, document } of (await search(program, `source:"${name}"`)).hits)
        found.set(String(document['message']), [...(found.get(String(document['message'])) ?? []), _index]);
      return found;
    },
  };
}

const currentOf = async (program: Program): Promise<string> =>
  (await program.status()).epoch.indices['sluice_default'] as string;

t.test(
  'a refused document is replayed into the index that refused it, or into the next one',
  { skip: skip.skip },
  async (t) => {
    const world = await createWorld(t);
    const program = await world.start();
    const own = { receiver: world.name };
    const first = await currentOf(program);
    await world.poison(first, true);
    // More than a dead letter keeps: it is read from its topic again.
    const large = `poison 3 ${'x'.repeat(100_000)}`;
    await world.send(program, ['good', 'poison 1', 'poison 2', large]);
    const deadLetters = await untilDeadLetters(program, 3, own);
    t.equal(deadLetters.length, 3);
    for (const deadLetter of deadLetters)
      t.match(deadLetter, {
        _id: /^[0-9a-f]{20}-[0-9a-f]{4}-[0-9a-f]{10}@sluice_default$/,
        code: 'STORE_DOCUMENT_REFUSED',
        message: /level/,
        index_set: 'sluice_default',
        index: first,
        origin: /logs\/\d+\/\d\/\d+$/,
        state: 'open',
        replays: 0,
      });

    t.match(await deadLettersVerb(program, 'replay', [], { ...own, dryRun: true }), {
      code: 0,
      out: '3 dead letters: 3 to sluice_default. Nothing was changed.',
    });
    t.same(await listDeadLetters(program, own), deadLetters);
    t.match(await deadLettersVerb(program, 'replay', [], own), { code: 1, out: '3 dead letters: 3 failed again.' });
    t.same(
      (await listDeadLetters(program, own)).map(({ _id, replays, state }) => [_id, replays, state]),
      deadLetters.map(({ _id }) => [_id, 1, 'open']),
    );

    await world.poison(first, false);
    const one = deadLetters.find(({ raw }) => String(raw).includes('poison 1'))?._id ?? '';
    t.match(await deadLettersVerb(program, 'replay', [one]), { code: 0, out: '1 dead letter: 1 replayed.' });
    t.match(
      Object.fromEntries(await world.stored(program)),
      { good: [first], 'poison 1': [first] },
      'the tombstone gave way',
    );
    await world.poison(first, true);
    await program.control.request('POST', '/rotate', { index_set: 'sluice_default' });
    const second = await currentOf(program);
    t.not(second, first);
    t.match(await deadLettersVerb(program, 'replay', [], own), { code: 0, out: '2 dead letters: 2 replayed.' });
    t.same(
      Object.fromEntries(await world.stored(program)),
      { good: [first], 'poison 1': [first], 'poison 2': [second], [large]: [second] },
      'each is stored once, the tombstones of the others stay hidden',
    );
    t.same(
      (await listDeadLetters(program, { ...own, state: 'replayed' })).map(({ target_epoch: epoch }) => typeof epoch),
      ['number', 'number', 'number'],
    );
    const metrics = await (await fetch(`http://127.0.0.1:${(await program.status()).admin_port}/metrics`)).text();
    t.match(metrics, /sluice_dead_letters_total\{code="STORE_DOCUMENT_REFUSED"\} 3/);
  },
);

t.test(
  'a replay that is killed in the middle, a rotation, and two replays side by side store each message once',
  { skip: skip.skip },
  async (t) => {
    const world = await createWorld(t);
    const proxy = await startHttpProxy(openSearchNode() as string);
    t.teardown(() => proxy.close());
    let program = await world.start(proxy.url);
    const own = { receiver: world.name };
    const first = await currentOf(program);
    await world.poison(first, true);
    const texts = Array.from({ length: 400 }, (_, at) => `poison ${at}`);
    await world.send(program, texts);
    t.equal((await untilDeadLetters(program, 400, own)).length, 400);
    await world.poison(first, false);

    /** The second page's messages are written, and its dead letters do not say so yet. */
    const killed = { kind: 'cut', act: () => void program.child.kill('SIGKILL') } as const;
    await program.control
      .stream('/dead-letters/replay', own, (line) => {
        if ((line as { progress?: { done: number } }).progress?.done === 200)
          proxy.inject({ fault: killed, matches: (_, path) => path.includes(first) && path.includes('/_bulk') });
      })
      .catch(() => undefined);
    await until(
      () => (program.child.signalCode === null ? undefined : true),
      30_000,
      () => 'it was not killed',
    );
    program = await world.start();
    const before = await listDeadLetters(program, { ...own, state: 'all' });
    t.same(
      ['open', 'targeted', 'replayed'].map(
        (state) => before.filter((deadLetter) => deadLetter['state'] === state).length,
      ),
      [0, 200, 200],
    );
    await program.control.request('POST', '/rotate', { index_set: 'sluice_default' });
    const results = await Promise.all([1, 2].map(() => deadLettersVerb(program, 'replay', [], own)));
    t.same(
      results.map(({ code }) => code),
      [0, 0],
      results.map(({ out }) => out).join(),
    );
    const stored = await world.stored(program);
    t.equal(texts.filter((text) => !stored.has(text)).length, 0, 'missing');
    t.equal(texts.filter((text) => (stored.get(text)?.length ?? 0) > 1).length, 0, 'doubled');
    t.equal((await listDeadLetters(program, { ...own, state: 'replayed' })).length, 400);
    t.match(await deadLettersVerb(program, 'replay', [], own), { code: 0, out: '0 dead letters: nothing to do.' });
  },
);

for (const when of ['before the tombstone', 'after the tombstone'] as const) {
  t.test(
    `C6: killed ${when} of a refusal, with the refusal's cause gone at the next delivery`,
    { skip: skip.skip },
    async (t) => {
      const world = await createWorld(t);
      const proxy = await startHttpProxy(openSearchNode() as string);
      t.teardown(() => proxy.close());
      const program = await world.start(proxy.url);
      const own = { receiver: world.name };
      const first = await currentOf(program);
      await world.poison(first, true);
      let reached: () => void = () => undefined;
      const tombstone = new Promise<void>((resolve) => {
        reached = resolve;
      });
      const never = new Promise<void>(() => undefined);
      const fault =
        when === 'before the tombstone'
          ? ({ kind: 'held', released: never, onHeld: reached } as const)
          : ({
              kind: 'cut',
              act: async () => {
                reached();
                await never;
              },
            } as const);
      proxy.inject({
        fault,
        matches: (method, path, body) => isTombstones(method, path, body) && path.includes(first),
      });
      await world.send(program, ['good', 'poison']);
      await tombstone;
      await program.end('SIGKILL');
      await world.poison(first, false);
      const again = await world.start();
      await workedOff(again);
      if (when === 'before the tombstone') {
        t.same(
          Object.fromEntries(await world.stored(again)),
          { good: [first], poison: [first] },
          'stored at the second delivery',
        );
        t.same(await listDeadLetters(again, { ...own, state: 'all' }), [], 'and no dead letter');
        return;
      }
      const deadLetters = await untilDeadLetters(again, 1, own);
      t.match(deadLetters, [{ _id: /@sluice_default$/, replays: 0 }]);
      t.equal(deadLetters.length, 1, 'the tombstone says that it was refused: one dead letter');
      t.same(Object.fromEntries(await world.stored(again)), { good: [first] }, 'and it is not stored');
      t.match(await deadLettersVerb(again, 'replay', [], own), { code: 0, out: '1 dead letter: 1 replayed.' });
      t.same(Object.fromEntries(await world.stored(again)), { good: [first], poison: [first] });
    },
  );
}
