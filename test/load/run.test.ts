import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { gunzipSync, inflateSync } from 'node:zlib';
import t from 'tap';
import { readOptions, runLoadCommand } from '../../cli/tools/load.js';
import type { LoadOptions } from '../../load/contract.js';
import { createReader } from '../../load/generator.js';
import { runLoad } from '../../load/run.js';

const base: LoadOptions = {
  rate: 0,
  forMs: 10_000,
  count: 3000,
  transport: 'tcp',
  connections: 2,
  host: '127.0.0.1',
  ports: {},
  seed: 5,
  bytes: 420,
};

/** Takes NUL frames; `cutAfter` ends the first connection after so many bytes. */
async function createTcpSink(test: { teardown(done: () => void): void }, cutAfter = Infinity) {
  const connections: Buffer[][] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    const chunks: Buffer[] = [];
    const isFirst = connections.push(chunks) === 1;
    open.add(socket);
    let bytes = 0;
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (isFirst && bytes > cutAfter) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => open.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  test.teardown(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    frames: () => connections.map((chunks) => Buffer.concat(chunks).toString().split('\0')),
  };
}

t.test('a load over TCP sends what it says, in order on each connection, and ends by count', async (t) => {
  const sink = await createTcpSink(t);
  const progress: number[] = [];
  const run = await runLoad({ ...base, ports: { tcp: sink.port }, onProgress: ({ sent }) => progress.push(sent) });
  t.equal(run.sent, 3000);
  t.equal(run.lanes.length, 2);
  t.equal(
    run.lanes.reduce((sum, lane) => sum + lane.sent, 0),
    3000,
  );
  t.ok(run.write.count > 0 && run.write.p99 >= run.write.p50);
  t.equal(progress.at(-1), 3000);
  const read = createReader(run.id);
  for (const frames of sink.frames()) {
    t.equal(frames.pop(), '', 'the last frame is closed');
    const places = frames.map((frame) => read(Buffer.from(frame)));
    t.same(
      places.map((place) => place?.sequence),
      places.map((_, at) => at),
    );
    t.equal(run.lanes.find((lane) => lane.connection === places[0]?.connection)?.sent, frames.length);
  }
});

t.test('a connection that breaks is opened again as a new lane', async (t) => {
  const sink = await createTcpSink(t, 50_000);
  const run = await runLoad({ ...base, rate: 2000, count: 1500, connections: 1, ports: { tcp: sink.port } });
  t.ok(run.reconnects >= 1, `${run.reconnects} reconnects`);
  t.equal(run.lanes.length, run.reconnects + 1);
  t.equal(run.sent, 1500);
  t.same(
    run.lanes.map((lane) => lane.connection),
    run.lanes.map((_, at) => at),
  );
});

t.test('the rate is kept, the time ends the load, and so does the signal', async (t) => {
  const sink = await createTcpSink(t);
  const run = await runLoad({ ...base, rate: 2000, count: undefined, forMs: 1000, ports: { tcp: sink.port } });
  t.ok(run.sent > 1000 && run.sent <= 2100, `${run.sent} in a second`);
  const controller = new AbortController();
  const stopped = runLoad({
    ...base,
    rate: 100,
    count: undefined,
    forMs: 60_000,
    ports: { tcp: sink.port },
    signal: controller.signal,
  });
  setTimeout(() => controller.abort(), 50);
  t.equal((await stopped).stoppedEarly, true);
});

t.test('UDP mixes plain, gzip, zlib and chunked messages, and each can be put together again', async (t) => {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  socket.setRecvBufferSize(4 * 2 ** 20);
  t.teardown(() => socket.close());
  const sets = new Map<string, Buffer[]>();
  const messages: Buffer[] = [];
  const kinds = new Set<string>();
  const take = (bytes: Buffer): void => {
    const magic = bytes.readUInt16BE(0);
    if (magic === 0x1e0f) {
      kinds.add('chunked');
      const key = bytes.toString('hex', 2, 10);
      const parts = sets.get(key) ?? [];
      sets.set(key, parts);
      parts[bytes[10] as number] = bytes.subarray(12);
      if (parts.filter((part) => part !== undefined).length === bytes[11]) take(Buffer.concat(parts));
    } else {
      kinds.add(magic === 0x1f8b ? 'gzip' : bytes[0] === 0x78 ? 'zlib' : 'plain');
      messages.push(magic === 0x1f8b ? gunzipSync(bytes) : bytes[0] === 0x78 ? inflateSync(bytes) : bytes);
    }
  };
  socket.on('message', (bytes) => take(Buffer.from(bytes)));
  const run = await runLoad({
    ...base,
    rate: 3000,
    count: 600,
    connections: 1,
    transport: 'udp',
    ports: { udp: socket.address().port },
  });
  for (let wait = 0; messages.length < 600 && wait < 200; wait += 1)
    await new Promise((resolve) => setTimeout(resolve, 10));
  const read = createReader(run.id);
  t.same([...kinds].sort(), ['chunked', 'gzip', 'plain', 'zlib']);
  t.same(
    messages.map((message) => read(message)?.sequence).sort((a, b) => Number(a) - Number(b)),
    Array.from({ length: 600 }, (_, at) => at),
  );
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

t.test(
  'HTTP sends single messages, lines and arrays, and sends again what was refused for being too much',
  async (t) => {
    const sequences: number[] = [];
    let answers = 0;
    const server = createHttpServer((request, response) => {
      void bodyOf(request).then((body) => {
        if (request.method !== 'POST') return response.writeHead(405).end();
        answers += 1;
        if (answers % 4 === 0) return response.writeHead(429, { 'retry-after': '0' }).end();
        const documents = body.startsWith('[')
          ? (JSON.parse(body) as unknown[])
          : body
              .trim()
              .split('\n')
              .map((line) => JSON.parse(line) as unknown);
        sequences.push(...documents.map((one) => Number((one as Record<string, unknown>)['_load_sequence'])));
        t.equal(request.headers.authorization, 'Bearer t');
        return response.writeHead(202).end();
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close());
    const run = await runLoad({
      ...base,
      count: 1000,
      connections: 1,
      transport: 'http',
      ports: { http: (server.address() as AddressInfo).port },
      token: 't',
    });
    t.same(
      sequences,
      Array.from({ length: 1000 }, (_, at) => at),
    );
    t.ok(run.pushedBack > 0);
    t.equal(run.failed, 0);
    t.ok(run.accept.count > 0);
  },
);

t.test('a target that is not there and a wrong option are typed errors', async (t) => {
  const sink = createServer().listen(0, '127.0.0.1');
  await once(sink, 'listening');
  const { port } = sink.address() as AddressInfo;
  sink.close();
  await once(sink, 'close');
  await t.rejects(runLoad({ ...base, ports: { tcp: port } }), {
    code: 'LOAD_TARGET_UNREACHABLE',
    message: new RegExp(`tcp 127\\.0\\.0\\.1:${port}`),
  });
  await t.rejects(runLoad({ ...base, transport: 'http', ports: { http: port } }), { code: 'LOAD_TARGET_UNREACHABLE' });
  await t.rejects(runLoad({ ...base, connections: 0 }), { code: 'LOAD_OPTION_INVALID' });
  t.throws(() => readOptions({ transport: 'carrier pigeon' }), {
    code: 'LOAD_OPTION_INVALID',
    message: /tcp, tls, udp, http, mix/,
  });
  t.throws(() => readOptions({ for: 'long' }), { code: 'LOAD_OPTION_INVALID' });
});

t.test('the command prints a report and exits with 1 when an accepted message is missing', async (t) => {
  const sink = await createTcpSink(t);
  const printed: string[] = [];
  const terminal = {
    print: (text: string) => void printed.push(text),
    signal: new AbortController().signal,
    progress: undefined,
  };
  const command = { rate: 0, count: 100, for: '5s', port: sink.port, connections: 1 };
  t.equal(await runLoadCommand(command, terminal), 0);
  t.match(printed[0], /sent {10}100 messages/);
  const frames = async () => {
    for (let wait = 0; wait < 200; wait += 1) {
      const last =
        sink
          .frames()
          .at(-1)
          ?.filter((frame) => frame !== '') ?? [];
      if (last.length === 100) return last;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return [];
  };
  const sources = (stored: number) => ({
    lag: async () => 0,
    readTopic: async (onRecords: (records: { id: string; value: Buffer }[]) => void | Promise<void>) =>
      onRecords((await frames()).map((frame, at) => ({ id: `r-0-${at.toString(16)}`, value: Buffer.from(frame) }))),
    scanStore: async (onIds: (index: string, ids: string[]) => void | Promise<void>) =>
      onIds(
        'a_0',
        Array.from({ length: stored }, (_, at) => `r-0-${at.toString(16)}`),
      ),
  });
  t.equal(await runLoadCommand({ ...command, wait: '2s' }, terminal, sources(100)), 0);
  t.equal(await runLoadCommand({ ...command, wait: '2s', json: true }, terminal, sources(99)), 1);
  t.match(JSON.parse(printed.at(-1) ?? ''), {
    run: { sent: 100, lanes: 1 },
    verify: { accepted: 100, stored: 99, missing: 1, examples: { missing: ['r-0-63'] } },
  });
});
