import { readFileSync } from 'node:fs';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { packageRoot } from '../../core/process/package-root.js';
import { createCertificates, opensslMissing } from './certificates.js';
import { reconcile, startReceiver, until, type Running } from './receiving.js';
import { senders, type Sender } from './senders.js';

/** Senders over UDP may overtake themselves; the wanted documents are found in any order. */
async function arrives(t: Test, running: Running, sender: Sender): Promise<void> {
  await until(
    `${sender.wanted.length} messages`,
    () => running.sink.texts().length + running.sink.refusals.length >= sender.wanted.length,
  );
  const documents = running.sink.texts().map((text) => JSON.parse(text) as Record<string, unknown>);
  t.same(running.sink.refusals, []);
  t.equal(documents.length, sender.wanted.length);
  for (const wanted of sender.wanted) {
    const found = documents.find(
      (document) => String(document['short_message']).trim() === String(wanted['short_message']).trim(),
    );
    t.match({ ...found, short_message: String(found?.['short_message']).trim() }, wanted);
  }
  t.match(await reconcile(running), { received: sender.wanted.length, decoded: sender.wanted.length, exact: true });
}

t.test('real senders', async (t) => {
  for (const sender of senders) {
    const skip = sender.missing === false ? (sender.tls === true ? opensslMissing : false) : sender.missing;
    await t.test(`${sender.name} over ${sender.type} arrives whole`, { skip }, async (t) => {
      const made = sender.tls === true ? createCertificates(t) : undefined;
      const settings =
        made === undefined ? {} : { tls: { enabled: true, cert_file: made.server.cert, key_file: made.server.key } };
      const running = await startReceiver(t, sender.type, settings);
      await sender.send(running.port);
      await arrives(t, running, sender);
    });
  }
});

t.test('golden bytes of the same senders, which need none of them', async (t) => {
  for (const sender of senders.filter(({ tls }) => tls !== true)) {
    await t.test(`${sender.name}.bin is taken whole`, async (t) => {
      const running = await startReceiver(t, sender.type);
      const bytes = readFileSync(join(packageRoot, 'test/fixtures/gelf', `${sender.name}.bin`));
      if (sender.type === 'gelf_udp') await replayDatagrams(running.port, bytes);
      else await replayStream(running.port, bytes);
      await arrives(t, running, sender);
    });
  }
});

/** Each datagram stands behind its length, 4 bytes, most significant first. */
async function replayDatagrams(port: number, bytes: Buffer): Promise<void> {
  const socket = createSocket('udp4');
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const datagram = bytes.subarray(at + 4, at + 4 + length);
    await new Promise<void>((resolve) => {
      socket.send(datagram, port, '127.0.0.1', () => {
        resolve();
      });
    });
    at += 4 + length;
  }
  socket.close();
}

async function replayStream(port: number, bytes: Buffer): Promise<void> {
  const socket = createConnection({ port, host: '127.0.0.1' });
  socket.resume();
  socket.end(bytes);
  await once(socket, 'close');
}
