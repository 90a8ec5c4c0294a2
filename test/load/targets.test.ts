import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import t from 'tap';
import type { LoadOptions } from '../../load/contract.js';
import { createReader } from '../../load/generator.js';
import { runLoad } from '../../load/run.js';
import { createCertificates, opensslMissing } from '../receivers/certificates.js';

const base: LoadOptions = {
  rate: 0,
  forMs: 10_000,
  count: 500,
  transport: 'tcp',
  connections: 1,
  host: '127.0.0.1',
  ports: {},
  seed: 5,
  bytes: 420,
};

async function listen(test: { teardown(done: () => void): void }, server: Server): Promise<number> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => open.add(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.teardown(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

t.test(
  'TLS is checked against the authority when one is given, and taken as it is otherwise',
  { skip: opensslMissing },
  async (t) => {
    const { authority, server: pair, stranger } = createCertificates(t);
    const chunks: Buffer[] = [];
    const server = createTlsServer(
      { cert: readFileSync(pair.cert), key: readFileSync(pair.key) },
      (socket) => void socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined),
    );
    const port = await listen(t, server);
    const options: LoadOptions = { ...base, transport: 'tls', ports: { tls: port } };
    const run = await runLoad({ ...options, ca: readFileSync(authority.cert) });
    const frames = Buffer.concat(chunks).toString().split('\0').slice(0, -1);
    const read = createReader(run.id);
    t.same(
      frames.map((frame) => read(Buffer.from(frame))?.sequence),
      Array.from({ length: 500 }, (_, at) => at),
    );
    t.same(run.lanes, [{ connection: 0, transport: 'tls', sent: 500 }]);
    t.equal((await runLoad(options)).sent, 500);
    await t.rejects(runLoad({ ...options, ca: readFileSync(stranger.cert) }), { code: 'LOAD_TARGET_UNREACHABLE' });
  },
);

t.test('a target that never reads holds the load back, and the load still ends by itself', async (t) => {
  const port = await listen(t, createServer({ pauseOnConnect: true }));
  const started = performance.now();
  const run = await runLoad({ ...base, count: undefined, forMs: 300, drainMs: 200, ports: { tcp: port } });
  const took = performance.now() - started;
  t.ok(took < 3000, `${took.toFixed(0)} ms`);
  t.ok(run.bytes < 64e6, `${run.bytes} bytes handed over`);
});
