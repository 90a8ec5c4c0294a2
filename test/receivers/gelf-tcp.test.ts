import { once } from 'node:events';
import { deflateSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { createGelfTcpReceiver, type GelfTcpOptions } from '../../receivers/gelf-tcp.js';
import { connectTo, gelf, reconcile, sendOverTcp, startReceiver, until } from './receiving.js';
import { slowness } from '../deadlines.js';

t.test('a message that ends with NUL arrives byte for byte, with its sender', async (t) => {
  const { sink, port } = await startReceiver(t, 'gelf_tcp');
  const text = '{ "short_message":"hello" , "_n":12345678901234567890 }';
  const socket = await connectTo(t, port);
  socket.write(`${text}\0`);
  await until('the message', () => sink.batches.length === 1);
  t.same(sink.texts(), [text]);
  t.match(sink.batches[0], {
    receiver: 'gelf-tcp',
    lane: 1,
    peers: `127.0.0.1:${socket.localPort}`,
    bytes: text.length,
  });
});

t.test('frames may be cut at any byte, and come out alike', async (t) => {
  const { sink, port } = await startReceiver(t, 'gelf_tcp');
  const stream = Buffer.from(`${gelf('one')}\0\0${gelf('zwei ü')}\0${gelf('three')}`);
  for (let cut = 0; cut <= stream.length; cut += 1) {
    const socket = await connectTo(t, port);
    socket.resume();
    const before = sink.batches.length;
    if (cut > 0) socket.write(stream.subarray(0, cut));
    if (cut > 0 && cut % 8 === 0)
      await until('the first part', () => sink.batches.length > before || !stream.subarray(0, cut).includes(0));
    socket.end(stream.subarray(cut));
    await once(socket, 'close');
  }
  await until('all messages', () => sink.texts().length === 3 * (stream.length + 1));
  t.same(new Set(sink.shorts()), new Set(['one', 'zwei ü', 'three']));
  t.equal(sink.refusals.length, 0);
});

t.test('messages of one connection keep their order in one lane', async (t) => {
  const { sink, port } = await startReceiver(t, 'gelf_tcp');
  const names = Array.from({ length: 5000 }, (_, index) => `m${index}`);
  await sendOverTcp(t, port, names.map((name) => `${gelf(name)}\0`).join(''));
  await until('all messages', () => sink.texts().length === names.length);
  t.same(sink.shorts(), names);
  t.equal(new Set(sink.batches.map(({ lane }) => lane)).size, 1);
});

t.test('newline framing takes lines, with or without carriage return', async (t) => {
  const { sink, port } = await startReceiver(t, 'gelf_tcp', { framing: 'newline' });
  await sendOverTcp(t, port, `${gelf('a')}\n${gelf('b')}\r\n\n${gelf('c')}`);
  await until('all messages', () => sink.texts().length === 3);
  t.same(sink.shorts(), ['a', 'b', 'c']);
});

t.test('a bad frame costs that frame and goes to the dead letters', async (t) => {
  const running = await startReceiver(t, 'gelf_tcp');
  const { sink, port } = running;
  await sendOverTcp(t, port, `${gelf('before')}\0{"short_message":\0 \0${gelf('after')}\0`);
  await until('all', () => sink.texts().length === 2 && sink.refusals.length === 1);
  t.same(sink.shorts(), ['before', 'after']);
  t.match(sink.refusals[0], { receiver: 'gelf-tcp', code: 'DECODE_JSON_INVALID', rawLength: 17 });
  t.equal(sink.refusals[0]?.raw.toString(), '{"short_message":');
  t.match(await reconcile(running), { received: 3, decoded: 2, refused: 1, exact: true });
  t.equal(await running.count('sluice_frames_skipped_total'), 1);
});

t.test('an oversize frame costs that frame, keeps its head, and the connection goes on', async (t) => {
  const running = await startReceiver(t, 'gelf_tcp', { max_frame_bytes: 100_000 });
  const { sink, port } = running;
  await sendOverTcp(t, port, `${gelf('before')}\0${gelf('x'.repeat(300_000))}\0${gelf('after')}\0`);
  await until('all', () => sink.texts().length === 2 && sink.refusals.length === 1);
  t.same(sink.shorts(), ['before', 'after']);
  t.equal(sink.refusals[0]?.code, 'FRAME_TOO_LARGE');
  t.equal(sink.refusals[0]?.raw.length, 64 * 1024);
  t.ok((sink.refusals[0]?.rawLength ?? 0) > 300_000);
  t.equal(await running.count('sluice_diagnoses_made_total', { diagnosis: 'oversize_frame' }), 1);
  t.match(await reconcile(running), { received: 3, decoded: 2, refused: 1, exact: true });
});

t.test('compressed frames without a NUL in them are inflated', async (t) => {
  const { sink, port } = await startReceiver(t, 'gelf_tcp', { framing: 'newline' });
  const packed = [gzipSync, deflateSync]
    .flatMap((pack) => Array.from({ length: 200 }, (_, index) => pack(gelf(`packed ${index}`))))
    .filter((bytes) => !bytes.includes(0x0a) && bytes.at(-1) !== 0x0d)
    .slice(0, 20);
  await sendOverTcp(t, port, Buffer.concat(packed.flatMap((bytes) => [bytes, Buffer.from('\n')])));
  await until('all', () => sink.texts().length === packed.length);
  t.ok(sink.shorts().every((short) => short.startsWith('packed')));
});

t.test('the receiver never writes a byte, and ends the connection when the sender does', async (t) => {
  const { port, sink } = await startReceiver(t, 'gelf_tcp');
  const socket = await connectTo(t, port);
  let received = 0;
  socket.on('data', (data) => {
    received += data.length;
  });
  socket.write(`${gelf('a')}\0GET / HTTP/1.1\r\n\r\n\0${gelf('b')}`);
  socket.end();
  await once(socket, 'close');
  t.equal(received, 0);
  t.same(sink.shorts(), ['a', 'b']);
});

t.test('what a cut connection had sent without a delimiter is kept', async (t) => {
  const running = await startReceiver(t, 'gelf_tcp');
  const socket = await connectTo(t, running.port);
  socket.write(`${gelf('whole')}\0${gelf('last')}`);
  await until('the first', () => running.sink.texts().length === 1);
  socket.resetAndDestroy();
  await until('the last', () => running.sink.texts().length === 2);
  await until(
    'the close is counted',
    async () => (await running.count('sluice_connections_closed_total', { reason: 'reset' })) === 1,
  );
  await until('none is open', async () => (await running.count('sluice_connections_open')) === 0);
});

t.test('connections beyond the limit are closed at once and counted', async (t) => {
  const running = await startReceiver(t, 'gelf_tcp', { max_connections: 2 });
  await connectTo(t, running.port);
  const second = await connectTo(t, running.port);
  const third = await connectTo(t, running.port);
  third.resume();
  await once(third, 'close');
  await until(
    'the close is counted',
    async () => (await running.count('sluice_connections_closed_total', { reason: 'limit' })) === 1,
  );
  t.equal(await running.count('sluice_connections_open'), 2);
  t.equal(await running.count('sluice_connections_opened_total'), 3);
  second.write(`${gelf('still read')}\0`);
  await until('the message', () => running.sink.texts().length === 1);
});

t.test('a connection that sends nothing is closed after idle_ms, one that is held back is not', async (t) => {
  const running = await startReceiver(t, 'gelf_tcp', { idle_ms: 60 });
  const idle = await connectTo(t, running.port);
  idle.resume();
  await once(idle, 'close');
  await until(
    'the close is counted',
    async () => (await running.count('sluice_connections_closed_total', { reason: 'idle' })) === 1,
  );
  running.sink.hold();
  const held = await connectTo(t, running.port);
  let closed = false;
  held.once('close', () => {
    closed = true;
  });
  held.resume();
  held.write(`${gelf('held')}\0`);
  await until('the message', () => running.sink.texts().length === 1);
  await new Promise((resolve) => {
    setTimeout(resolve, 200);
  });
  t.notOk(closed, 'an unaccepted message keeps its connection open');
  running.sink.release();
  await once(held, 'close');
});

t.test('reading stops while the topic does not accept, memory stays flat, and nothing is lost', async (t) => {
  const limit = 256 * 1024;
  const running = await startReceiver(t, 'gelf_tcp', { max_connection_bytes: limit });
  const { sink, port } = running;
  sink.hold();
  const socket = await connectTo(t, port);
  socket.resume();
  const count = 20_000;
  const filler = 'x'.repeat(400);
  const stream = Buffer.from(
    Array.from({ length: count }, (_, index) => `${gelf(`m${index}`, { _filler: filler })}\0`).join(''),
  );
  socket.end(stream);
  await until('reading to stop', async () => (await running.count('sluice_connections_paused')) === 1);
  const stopped = sink.texts().length;
  await new Promise((resolve) => {
    setTimeout(resolve, 300);
  });
  t.equal(sink.texts().length, stopped, 'nothing more is read');
  const held = sink.batches.reduce((sum, batch) => sum + batch.bytes, 0);
  t.ok(held <= limit + 64 * 1024, `${held} bytes are held`);
  sink.release();
  await until('all messages', () => sink.texts().length === count);
  t.same(
    sink.shorts(),
    Array.from({ length: count }, (_, index) => `m${index}`),
  );
  t.match(await reconcile(running), { received: count, decoded: count, refused: 0, shed: 0, exact: true });
  t.equal(await running.count('sluice_connections_paused'), 0);
});

t.test('a full pipeline stops every connection, and reading goes on when there is room', async (t) => {
  const running = await startReceiver(t, 'gelf_tcp');
  const { sink, port } = running;
  sink.setFull(true);
  const sockets = await Promise.all([1, 2, 3].map(() => connectTo(t, port)));
  for (const socket of sockets) socket.write(`${gelf('first')}\0`);
  await until('all paused', async () => (await running.count('sluice_connections_paused')) === 3);
  for (const socket of sockets) socket.write(`${gelf('second')}\0`);
  await new Promise((resolve) => {
    setTimeout(resolve, 100);
  });
  t.equal(sink.texts().length, 0);
  sink.setFull(false);
  await until('the rest', () => sink.texts().length === 6);
  t.equal(await running.count('sluice_connections_paused'), 0);
});

t.test('frames that never end cannot take more memory than there is for all connections', async (t) => {
  const running = await startReceiver(t, 'gelf_tcp', { max_frame_bytes: 400_000 }, (options, context) =>
    createGelfTcpReceiver(options as GelfTcpOptions, context, 800_000),
  );
  const sockets = await Promise.all([1, 2, 3].map(() => connectTo(t, running.port)));
  for (const socket of sockets) socket.write('x'.repeat(300_000));
  await until(
    'one to be closed',
    async () => (await running.count('sluice_connections_closed_total', { reason: 'limit' })) === 1,
  );
  t.equal(await running.count('sluice_diagnoses_made_total', { diagnosis: 'unfinished_frames' }), 1);
  t.equal(running.sink.refusals.length, 1, 'its bytes are among the dead letters');
  await until('the others to stay', async () => (await running.count('sluice_connections_open')) === 2);
});

t.test('stop takes what stands, waits until it is accepted, and closes', async (t) => {
  const running = await startReceiver(t, 'gelf_tcp');
  const { sink, port, receiver } = running;
  sink.hold();
  const socket = await connectTo(t, port);
  socket.resume();
  socket.write(`${gelf('a')}\0${gelf('rest')}`);
  await until('the first', () => sink.texts().length === 1);
  let stopped = false;
  const stopping = receiver.stop(5000).then(() => {
    stopped = true;
  });
  await until('the rest', () => sink.texts().length === 2);
  await new Promise((resolve) => {
    setTimeout(resolve, 50);
  });
  t.notOk(stopped);
  sink.release();
  await stopping;
  await once(socket, 'close');
  await until(
    'the close is counted',
    async () => (await running.count('sluice_connections_closed_total', { reason: 'stopped' })) === 1,
  );
  await receiver.stop(1000);
});

t.test('stop waits for messages whose connection is gone already', async (t) => {
  const { sink, port, receiver } = await startReceiver(t, 'gelf_tcp');
  sink.hold();
  await sendOverTcp(t, port, `${gelf('a')}\0`);
  let stopped = false;
  const stopping = receiver.stop(5000).then(() => {
    stopped = true;
  });
  await new Promise((resolve) => {
    setTimeout(resolve, 50);
  });
  t.notOk(stopped);
  sink.release();
  await stopping;
});

t.test('stop ends at its deadline when the topic never answers', async (t) => {
  const { sink, port, receiver } = await startReceiver(t, 'gelf_tcp');
  sink.hold();
  const socket = await connectTo(t, port);
  socket.write(`${gelf('a')}\0`);
  await until('the message', () => sink.texts().length === 1);
  const began = Date.now();
  await receiver.stop(100);
  t.ok(Date.now() - began < 2_000 * slowness);
});

t.test('a pipeline that has stopped closes the connection and says so', async (t) => {
  const running = await startReceiver(t, 'gelf_tcp');
  running.sink.fail(new Error('stopped'));
  const socket = await connectTo(t, running.port);
  socket.resume();
  socket.write(`${gelf('a')}\0`);
  await once(socket, 'close');
  t.ok(running.lines.some((line) => line['event'] === 'push_failed'));
});

t.test('a taken port and a foreign address are said in one sentence', async (t) => {
  const { port } = await startReceiver(t, 'gelf_tcp');
  await t.rejects(startReceiver(t, 'gelf_tcp', { port }), {
    code: 'RECEIVER_PORT_TAKEN',
    message: /receiver gelf-tcp: .*in use.*127\.0\.0\.1/,
  });
  await t.rejects(startReceiver(t, 'gelf_tcp', { host: '192.0.2.1' }), { code: 'RECEIVER_ADDRESS_INVALID' });
  await t.rejects(startReceiver(t, 'gelf_tcp', { host: 'no.such.host.invalid' }), { code: 'RECEIVER_ADDRESS_INVALID' });
});

t.test('thousands of connections come and go without a trace', async (t) => {
  const running = await startReceiver(t, 'gelf_tcp');
  for (let round = 0; round < 20; round += 1)
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => sendOverTcp(t, running.port, `${gelf(`${round} ${index}`)}\0`)),
    );
  await until('all closed', async () => (await running.count('sluice_connections_closed_total')) === 1000);
  t.equal(running.sink.texts().length, 1000);
  t.equal(await running.count('sluice_connections_open'), 0);
});

t.test('several documents in one frame are several messages', async (t) => {
  const running = await startReceiver(t, 'gelf_tcp');
  await sendOverTcp(t, running.port, `${gelf('a')}${gelf('b')} ${gelf('c')}\0`);
  await until('all', () => running.sink.texts().length === 3);
  t.same(running.sink.shorts(), ['a', 'b', 'c']);
  t.match(await reconcile(running), { received: 3, decoded: 3, exact: true });
});
