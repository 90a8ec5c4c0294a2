import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { deflateSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { readKernelDrops } from '../../receivers/listen/kernel-drops.js';
import { gelf, reconcile, sendOverUdp, startReceiver, until } from './receiving.js';

/** GELF chunks of a payload, as docs.graylog.org describes them. */
function chunk(payload: Buffer, size: number, id: string): Buffer[] {
  const count = Math.ceil(payload.length / size);
  return Array.from({ length: count }, (_, number) =>
    Buffer.concat([
      Buffer.from([0x1e, 0x0f]),
      Buffer.from(id.padEnd(8).slice(0, 8), 'latin1'),
      Buffer.from([number, count]),
      payload.subarray(number * size, (number + 1) * size),
    ]),
  );
}

t.test('plain, gzip and zlib datagrams arrive with their senders', async (t) => {
  const running = await startReceiver(t, 'gelf_udp');
  await sendOverUdp(running.port, [
    gelf('plain'),
    gzipSync(gelf('gzip')),
    deflateSync(gelf('zlib')),
    `${gelf('nul')}\0`,
    ` ${gelf('space')}\n`,
    '',
  ]);
  await until('all', () => running.sink.texts().length === 5);
  t.same(running.sink.shorts(), ['plain', 'gzip', 'zlib', 'nul', 'space']);
  for (const batch of running.sink.batches) {
    t.equal(batch.lane, undefined);
    t.equal(batch.peers.length, batch.values.length);
    t.match(batch.peers[0], /^127\.0\.0\.1:\d+$/);
    t.equal(
      batch.bytes,
      batch.values.reduce((sum, value) => sum + value.length, 0),
    );
  }
  t.match(await reconcile(running), { received: 5, decoded: 5, exact: true });
  t.equal(await running.count('sluice_frames_skipped_total'), 1);
  t.equal(await running.count('sluice_datagrams_received_total'), 6);
});

t.test('chunks in any order, doubled, and interleaved from several senders become whole messages', async (t) => {
  const running = await startReceiver(t, 'gelf_udp');
  const long = (name: string) => gelf(name, { _filler: 'x'.repeat(2000) });
  const first = chunk(Buffer.from(long('one')), 300, 'same-id');
  const second = chunk(deflateSync(long('two')), 20, 'same-id');
  const one = createSocket('udp4');
  const two = createSocket('udp4');
  t.teardown(() => {
    one.close();
    two.close();
  });
  const send = (socket: typeof one, bytes: Buffer) =>
    new Promise<void>((resolve) => {
      socket.send(bytes, running.port, '127.0.0.1', () => {
        resolve();
      });
    });
  for (let index = 0; index < Math.max(first.length, second.length); index += 1) {
    const a = first.at(-1 - index);
    const b = second[index];
    if (a !== undefined) await send(one, a);
    if (a !== undefined && index === 0) await send(one, a);
    if (b !== undefined) await send(two, b);
  }
  await until('both', () => running.sink.texts().length === 2);
  t.same(running.sink.shorts().sort(), ['one', 'two']);
  await until('the counters', async () => (await running.count('sluice_chunk_sets_completed_total')) === 2);
  t.equal(await running.count('sluice_chunks_received_total'), first.length + second.length + 1);
  t.equal(await running.count('sluice_chunks_duplicate_total'), 1);
  t.equal(await running.count('sluice_chunk_sets_waiting'), 0);
  t.match(await reconcile(running), { received: 2, decoded: 2, exact: true });
});

t.test('a chunk set that never completes expires, is named, and goes to the dead letters', async (t) => {
  const running = await startReceiver(t, 'gelf_udp', { chunk_timeout_ms: 100 });
  await sendOverUdp(running.port, chunk(Buffer.from(gelf('lost', { _filler: 'x'.repeat(500) })), 100, 'a').slice(1));
  await until('the expiry', () => running.sink.refusals.length === 1);
  t.match(running.sink.refusals[0], { code: 'CHUNK_SET_EXPIRED', peer: /^127\.0\.0\.1:/ });
  t.equal(await running.count('sluice_chunk_sets_expired_total'), 1);
  t.equal(await running.count('sluice_diagnoses_made_total', { diagnosis: 'chunks_incomplete' }), 1);
  t.match(
    running.lines.find((line) => line['diagnosis'] === 'chunks_incomplete'),
    { peer: /^127\.0\.0\.1:/, cure: /1420 bytes/ },
  );
  t.match(await reconcile(running), { received: 1, refused: 1, exact: true });
});

t.test('what is no message is refused, and the next one is taken', async (t) => {
  const running = await startReceiver(t, 'gelf_udp');
  const bad = [
    Buffer.from('not json'),
    Buffer.from('{"host":"a"}'),
    Buffer.from([0x1e, 0x0f, 1]),
    gzipSync(gelf('cut')).subarray(0, 30),
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3]),
  ];
  await sendOverUdp(running.port, [...bad, gelf('good')]);
  await until('the good one', () => running.sink.texts().length === 1 && running.sink.refusals.length === bad.length);
  t.same(
    running.sink.refusals.map(({ code }) => code),
    ['DECODE_JSON_INVALID', 'DECODE_MESSAGE_MISSING', 'CHUNK_HEADER_SHORT', 'INFLATE_TRUNCATED', 'INFLATE_UNSUPPORTED'],
  );
  t.same(running.sink.refusals[3]?.raw, bad[3], 'the raw bytes are those that came');
  t.match(await reconcile(running), { received: 6, decoded: 1, refused: 5, exact: true });
});

t.test('a message that inflates beyond the limit is refused by name', async (t) => {
  const running = await startReceiver(t, 'gelf_udp', { max_inflated_bytes: 10_000 });
  await sendOverUdp(running.port, [gzipSync(gelf('bomb', { _filler: 'x'.repeat(20_000) }))]);
  await until('the refusal', () => running.sink.refusals.length === 1);
  t.equal(running.sink.refusals[0]?.code, 'INFLATED_TOO_LARGE');
});

t.test('while the pipeline is full, messages are shed unread, and each is counted once', async (t) => {
  const running = await startReceiver(t, 'gelf_udp');
  running.sink.setFull(true);
  await sendOverUdp(running.port, [gelf('a'), 'not json', ...chunk(Buffer.from(gelf('chunked')), 20, 'b'), gelf('c')]);
  await until('the shed ones', async () => (await reconcile(running)).shed === 4);
  t.equal(running.sink.batches.length, 0);
  t.equal(running.sink.refusals.length, 0);
  running.sink.setFull(false);
  await sendOverUdp(running.port, [gelf('taken')]);
  await until('the message', () => running.sink.texts().length === 1);
  t.match(await reconcile(running), { received: 5, decoded: 1, refused: 0, shed: 4, exact: true });
});

t.test('the granted receive buffer is logged and shown, with the cure when it is less than asked for', async (t) => {
  const asked = 2 ** 30;
  const running = await startReceiver(t, 'gelf_udp', { receive_buffer_bytes: asked });
  const granted = await running.count('sluice_receive_buffer_bytes');
  t.ok(granted > 0 && granted < asked);
  t.match(
    running.lines.find((line) => line['event'] === 'receive_buffer_granted'),
    { level: 40, granted, msg: /net\.core\.rmem_max/ },
  );
  const modest = await startReceiver(t, 'gelf_udp', { receive_buffer_bytes: 65_536 });
  t.match(
    modest.lines.find((line) => line['event'] === 'receive_buffer_granted'),
    { level: 30, granted: 65_536 },
  );
});

t.test(
  'datagrams that the kernel drops are counted',
  { skip: readableProc() ? false : 'no /proc/net/udp here' },
  async (t) => {
    const running = await startReceiver(t, 'gelf_udp', { receive_buffer_bytes: 4096 });
    const before = readKernelDrops('127.0.0.1', running.port) ?? 0;
    const sender = createSocket('udp4');
    t.teardown(() => {
      sender.close();
    });
    const filler = gelf('flood', { _filler: 'x'.repeat(1000) });
    const sent = 2000;
    await new Promise<void>((resolve) => {
      sender.bind(0, '127.0.0.1', resolve);
    });
    await Promise.all(
      Array.from(
        { length: sent },
        () =>
          new Promise<void>((resolve) => {
            sender.send(filler, running.port, '127.0.0.1', () => {
              resolve();
            });
          }),
      ),
    );
    const dropped = () => (readKernelDrops('127.0.0.1', running.port) ?? 0) - before;
    await until('every datagram', () => running.sink.texts().length + dropped() === sent);
    await until('the counter', async () => (await running.count('sluice_datagrams_dropped_total')) === dropped());
    t.ok(dropped() > 0, `${dropped()} of ${sent} dropped`);
  },
);

t.test('kernel drops are read from the line of the own socket', (t) => {
  t.equal(readKernelDrops('127.0.0.1', 1, '/no/such/folder'), undefined);
  t.equal(readKernelDrops('192.0.2.1', 9), undefined);
  const folder = t.testdir({
    udp:
      '   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n' +
      '  100: 0100007F:8123 0100007F:2FA9 01 00000000:00000000 00:00000000 00000000     0        0 5000 2 0000000000000000 0\n' +
      '  101: 0100007F:2FA9 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 5001 2 0000000000000000 17\n' +
      '  102: 00000000:2FA9 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 5002 2 0000000000000000 4\n',
    udp6:
      '  sl  local_address remote_address st\n' +
      '  103: 00000000000000000000000001000000:2FA9 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 5003 2 0000000000000000 8\n' +
      '  104: B80D0120000000000000000002000000:2FA9 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 5004 2 0000000000000000 9\n',
  });
  for (const [host, drops] of [
    ['127.0.0.1', 17],
    ['0.0.0.0', 4],
    ['::1', 8],
    ['2001:db8::2', 9],
    ['::', undefined],
  ] as const)
    t.equal(readKernelDrops(host, 12201, folder), drops, host);
  t.end();
});

t.test('stop waits for what was handed over', async (t) => {
  const running = await startReceiver(t, 'gelf_udp');
  running.sink.hold();
  await sendOverUdp(running.port, [gelf('a')]);
  await until('the message', () => running.sink.texts().length === 1);
  let stopped = false;
  const stopping = running.receiver.stop(5000).then(() => {
    stopped = true;
  });
  await new Promise((resolve) => {
    setTimeout(resolve, 50);
  });
  t.notOk(stopped);
  running.sink.release();
  await stopping;
  await running.receiver.stop(10);
});

t.test('a taken port is said so', async (t) => {
  const { port } = await startReceiver(t, 'gelf_udp');
  await t.rejects(startReceiver(t, 'gelf_udp', { port }), { code: 'RECEIVER_PORT_TAKEN' });
});

function readableProc(): boolean {
  try {
    return readFileSync('/proc/net/udp', 'latin1').includes('drops');
  } catch {
    return false;
  }
}
