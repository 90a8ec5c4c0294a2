/** Live tails over sockets: a reader that does not read, and one whose rights end. */
import { connect, type Socket } from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { createTailRoutes } from '../../../../api/http/routes/search/tail.js';
import type { Access } from '../../../../access/contract.js';
import { compareCodePoints } from '../../../../core/values.js';
import { defineErrors } from '../../../../core/errors.js';
import { Registry } from '../../../../core/metrics.js';
import type { SearchSettings } from '../../../../schemas/config/search.js';
import type { SearchRequest, SearchResult } from '../../../../schemas/query.js';
import { compileQuery } from '../../../../search/reference/evaluate.js';
import { createSearcher } from '../../../../search/searcher.js';
import type { SearchableStore } from '../../../../search/store.js';
import { until } from '../../../program.js';
import { searchSettings } from '../../../search/settings.js';
import { basic, createWorld, fakeAccess, identity, people, type World } from '../world.js';

const { create: denied } = defineErrors({ ACCESS_DENIED: { retryable: false, status: 401, summary: 'Not known.' } });
const settings: SearchSettings = { ...searchSettings, concurrent: 4 };
const padding = 'x'.repeat(1_000);

interface Flood {
  readonly store: SearchableStore;
  /** So many more messages, received now. */
  add(count: number, streams?: readonly string[]): void;
  readonly searches: () => number;
}

/** A store of one index in memory, oldest first. */
function createFlood(): Flood {
  const documents: {
    readonly _id: string;
    readonly document: Readonly<Record<string, unknown>>;
    readonly time: number;
  }[] = [];
  let searches = 0;
  const search = async ({ query, limit, after }: SearchRequest): Promise<SearchResult> => {
    searches += 1;
    const matches = compileQuery(query);
    const found = documents.filter(({ document }) => matches(document));
    const rest =
      after === undefined
        ? found
        : found.filter(
            ({ _id, time }) =>
              time > Number(after.sortValue) || (time === after.sortValue && compareCodePoints(_id, after.id) > 0),
          );
    const hits = rest.slice(0, limit);
    const last = hits.at(-1);
    return {
      total: found.length,
      hits: hits.map(({ _id, document }) => ({ _id, _index: 'flood_0', document })),
      skipped: [],
      ...(last === undefined ? {} : { next: { sortValue: last.time, id: last._id, index: 'flood_0' } }),
    };
  };
  const none = (): never => {
    throw new Error('not asked here');
  };
  return {
    store: {
      indices: { openNames: async () => ['flood_0'], fieldTypes: none },
      documents: { read: none },
      queries: { search, aggregate: none, scan: none, occurringFields: none },
    },
    searches: () => searches,
    add(count, streams = ['all-messages']) {
      const time = Date.now();
      const text = new Date(time).toISOString();
      for (let at = 0; at < count; at += 1) {
        const number = documents.length;
        documents.push({
          _id: number.toString(16).padStart(12, '0'),
          time,
          document: {
            timestamp: text,
            receive_time: text,
            source: 'flood',
            message: `number ${number} ${padding}`,
            number,
            streams,
          },
        });
      }
    },
  };
}

async function open(
  t: Test,
  flood: Flood,
  recheckMs = 30_000,
  access: Access = fakeAccess,
): Promise<{ readonly world: World; readonly response: () => ServerResponse; tail(as: string): Promise<Reader> }> {
  const searcher = createSearcher({
    store: flood.store,
    indexSets: () => ['flood'],
    deadLetterSet: 'letters',
    settings,
    registry: new Registry(),
  });
  const world = await createWorld(t, { routes: [createTailRoutes(recheckMs)], searcher, access });
  await world.start();
  let response: ServerResponse | undefined;
  world.app.server.prependListener('request', (_: IncomingMessage, answer: ServerResponse) => {
    response = answer;
  });
  return { world, response: () => response as ServerResponse, tail: (as) => createReader(t, world.address().port, as) };
}

interface Reader {
  readonly socket: Socket;
  readonly numbers: number[];
  readonly skipped: number[];
  readonly ended: () => boolean;
}

/** Reads events, without holding their text. */
async function createReader(t: Test, port: number, as: string): Promise<Reader> {
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => void socket.destroy());
  const [numbers, skipped]: [number[], number[]] = [[], []];
  let [rest, ended, begun] = ['', false, false];
  socket
    .setEncoding('utf8')
    .on('error', () => undefined)
    .on('close', () => {
      ended = true;
    })
    .on('data', (text: string) => {
      begun = true;
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const number = /"message":"number (\d+) /.exec(line)?.[1];
        if (number !== undefined) numbers.push(Number(number));
        const missed = /^data: \{"messages":(\d+)\}/.exec(line)?.[1];
        if (missed !== undefined) skipped.push(Number(missed));
      }
    });
  socket.write(`GET /api/search/tail HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic(as)}\r\nConnection: close\r\n\r\n`);
  await until(
    async () => (begun ? true : undefined),
    60_000,
    () => 'the tail does not begin',
  );
  return { socket, numbers, skipped, ended: () => ended };
}

t.test(
  'a reader that does not read costs a few megabytes, and is told what it missed',
  { timeout: 120_000 },
  async (t) => {
    const flood = createFlood();
    const { response, tail } = await open(t, flood);
    const reader = await tail('admin');
    const searches = flood.searches();
    await until(
      async () => (flood.searches() > searches + 1 ? true : undefined),
      60_000,
      () => 'nobody looks',
    );
    flood.add(5);
    await until(
      async () => (reader.numbers.length === 5 ? true : undefined),
      60_000,
      () => `${reader.numbers.length} came`,
    );

    reader.socket.pause();
    flood.add(30_000);
    await until(
      async () => (response().writableNeedDrain ? true : undefined),
      60_000,
      () => 'the connection takes everything',
    );
    const stuck = flood.searches();
    const since = Date.now();
    await until(
      async () => (Date.now() - since > 1_500 ? true : undefined),
      60_000,
      () => '',
    );
    t.ok(flood.searches() - stuck <= 1, 'nothing more is read for a reader that does not read');
    t.ok(response().writableLength < 16 * 2 ** 20, `${response().writableLength} bytes wait`);

    flood.add(1_000);
    reader.socket.resume();
    await until(
      async () => (reader.skipped.length > 0 ? true : undefined),
      60_000,
      () => `${reader.numbers.length} came, none was missed`,
    );
    flood.add(7);
    await until(
      async () => (reader.numbers.at(-1) === 31_011 ? true : undefined),
      60_000,
      () => `${reader.numbers.length} came, ${reader.skipped.join()} were missed`,
    );
    t.equal(
      reader.numbers.length + reader.skipped.reduce((sum, count) => sum + count, 0),
      31_012,
      'each came, or was counted',
    );
    t.same(
      reader.numbers,
      [...new Set(reader.numbers)].sort((a, b) => a - b),
      'in order, none twice',
    );
  },
);

t.test('a reader that reads gets everything, however much comes at once', { timeout: 120_000 }, async (t) => {
  const flood = createFlood();
  const { tail } = await open(t, flood);
  const reader = await tail('admin');
  for (let round = 1; round <= 10; round += 1) {
    flood.add(1_500);
    await until(
      async () => (reader.numbers.length === round * 1_500 ? true : undefined),
      60_000,
      () => `${reader.numbers.length} came in round ${round}`,
    );
  }
  t.same(reader.skipped, []);
  t.same(
    reader.numbers,
    Array.from({ length: 15_000 }, (_, at) => at),
  );
});

t.test(
  'a tail ends when the rights of its reader change or end, and goes on while they stay',
  { timeout: 120_000 },
  async (t) => {
    const flood = createFlood();
    let scope = people['alice']?.scope;
    let isKnown = true;
    const access: Access = {
      ...fakeAccess,
      authenticate: async (credentials, from) => {
        const known = await fakeAccess.authenticate(credentials, from);
        if (!isKnown && known.username === 'operator') throw denied('ACCESS_DENIED');
        return known.username === 'alice' && scope !== undefined ? identity('alice', { ...known, scope }) : known;
      },
    };
    const { tail } = await open(t, flood, 20, access);
    const [alice, operator, admin] = [await tail('alice'), await tail('operator'), await tail('admin')];
    flood.add(3, ['all-messages']);
    await until(
      async () => ([alice, operator, admin].every(({ numbers }) => numbers.length === 3) ? true : undefined),
      60_000,
      () => 'messages do not come',
    );
    scope = { streams: ['system-logs'], except: [], deadLetters: false };
    await until(
      async () => (alice.ended() ? true : undefined),
      60_000,
      () => 'the tail goes on with rights that are gone',
    );
    isKnown = false;
    await until(
      async () => (operator.ended() ? true : undefined),
      60_000,
      () => 'the tail of one who is no longer known goes on',
    );
    flood.add(2, ['all-messages']);
    await until(
      async () => (admin.numbers.length === 5 ? true : undefined),
      60_000,
      () => 'the others do not go on',
    );
    t.same([alice.numbers.length, operator.numbers.length, admin.ended()], [3, 3, false]);
  },
);
