import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { silentLog } from '../../../core/log.js';
import { Registry } from '../../../core/metrics.js';
import { createOpenSearchStore } from '../../../sinks/stores/opensearch/store.js';
import { createFilled, samples } from './contract/contract.js';
import { openStore } from './duckdb/support/open-store.js';

t.test('OpenSearch: a cancelled search gives its connection up, which ends its task there', async (t) => {
  const searches: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    if (request.url?.includes('_search') === true) {
      searches.push(request);
      server.emit('search');
    } else response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"green"}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const store = createOpenSearchStore({
    nodes: [`http://127.0.0.1:${(server.address() as AddressInfo).port}`],
    requestTimeoutMs: 60_000,
    bulkBytes: 1_000_000,
    maxFields: 900,
    log: silentLog,
    registry: new Registry(),
  });
  t.teardown(async () => {
    await store.stop(1_000);
    server.closeAllConnections();
    server.close();
  });
  await store.start();
  const request = { indices: ['a_0'], query: { kind: 'all' as const } };
  const starts: readonly ((signal: AbortSignal) => Promise<object>)[] = [
    (signal) => store.queries.search({ ...request, limit: 1, signal }),
    (signal) => store.queries.aggregate({ ...request, groups: [], metrics: [], signal }),
  ];
  for (const start of starts) {
    const cancelling = new AbortController();
    const arrived = once(server, 'search');
    const ended = t.rejects(start(cancelling.signal), { code: 'STORE_SEARCH_CANCELLED' });
    await arrived;
    const gone = once(searches.at(-1)?.socket as NonNullable<IncomingMessage['socket']>, 'close');
    cancelling.abort();
    await Promise.all([ended, gone]);
  }
  t.equal(searches.length, 2);
});

t.test('embedded: a cancelled search is interrupted, and the next ones run', async (t) => {
  const store = await openStore(t);
  const indices = [
    await createFilled(
      store,
      samples(20_000).map((document, at) => ({
        ...document,
        message: `${document['message'] as string} ${'lorem ipsum '.repeat(20)} ${at}`,
      })),
    ),
  ];
  const query = {
    kind: 'or' as const,
    children: Array.from({ length: 200 }, (_, at) => ({
      kind: 'regex' as const,
      field: 'message',
      pattern: `.*x${at}[yz].*q`,
    })),
  };
  const started = Array.from({ length: 6 }, () => {
    const cancelling = new AbortController();
    return {
      cancelling,
      ended: store.queries
        .aggregate({
          indices,
          query,
          groups: [{ kind: 'values', field: 'source' }],
          metrics: [],
          signal: cancelling.signal,
        })
        .then(
          () => 'an answer',
          (thrown: unknown) => (thrown as { code?: unknown }).code,
        ),
    };
  });
  await new Promise((resolve) => setImmediate(resolve));
  for (const { cancelling } of started) cancelling.abort();
  const outcomes = await Promise.all(started.map(({ ended }) => ended));
  t.same(
    outcomes,
    outcomes.map(() => 'STORE_SEARCH_CANCELLED'),
  );
  t.equal((await store.queries.search({ indices, query: { kind: 'all' }, limit: 1 })).total, 20_000);
});
