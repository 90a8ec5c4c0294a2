import fc from 'fast-check';
import t from 'tap';
import { receiverKinds } from '../../receivers/registry.js';
import { settings } from '../../program/settings.js';
import { peerAddress, peerText } from '../../receivers/listen/peer.js';
import { buildReceiver, reconcile, sendOverTcp, sendOverUdp, startReceiver, until } from './receiving.js';

t.test('every kind is one of the settings, with its type in its schema', (t) => {
  const types = receiverKinds.map(({ type }) => type);
  t.same(Object.keys(settings.schema.properties?.['receivers']?.items?.variants ?? {}), types);
  for (const { type, settings: schema, messageLimit } of receiverKinds) {
    t.equal((schema.properties['type'] as { const?: unknown }).const, type);
    t.ok(schema.properties[messageLimit], `${messageLimit} is a setting of ${type}`);
  }
  t.end();
});

for (const { type } of receiverKinds) {
  t.test(`${type} keeps the lifecycle of a receiver`, async (t) => {
    const running = await startReceiver(t, type, { name: 'other-name' });
    t.equal(running.receiver.name, 'other-name');
    t.match(running.receiver.address(), { host: '127.0.0.1', tls: false, port: Number });
    t.ok(running.port > 0);
    t.match(await reconcile(running), { received: 0, exact: true });
    await Promise.all([running.receiver.stop(100), running.receiver.stop(100)]);
    const again = await startReceiver(t, type, { port: running.port });
    t.equal(again.port, running.port, 'the port is free after stop');
  });

  t.test(`${type} listens on IPv6 too, and writes its peers in brackets`, async (t) => {
    const running = await startReceiver(t, type, { host: '::1' }).catch(() => undefined);
    if (running === undefined) {
      t.comment('left out: no IPv6 loopback here');
      return;
    }
    t.equal(running.receiver.address().host, '::1');
    await running.receiver.stop(100);
  });

  t.test(`${type} survives random bytes, and its counters add up`, async (t) => {
    const running = await startReceiver(t, type);
    const pieces = fc.sample(
      fc.oneof(
        fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
        fc
          .constantFrom(
            '{"short_message":"ok"}',
            '{}',
            '[',
            '{"a":',
            '\0\0',
            '\n',
            '\x1e\x0f',
            '\x1f\x8b',
            'POST /gelf HTTP/1.1\r\n\r\n',
          )
          .map((text) => Buffer.from(text, 'latin1')),
      ),
      { seed: 7, numRuns: 300 },
    );
    if (type === 'gelf_udp') await sendOverUdp(running.port, pieces);
    else
      for (let at = 0; at < pieces.length; at += 30)
        await sendOverTcp(
          t,
          running.port,
          Buffer.concat(pieces.slice(at, at + 30).flatMap((piece) => [piece, Buffer.from([0])])),
        );
    if (type === 'gelf_udp')
      await until(
        'every datagram',
        async () => (await running.count('sluice_datagrams_received_total')) === pieces.length,
      );
    const { received, decoded, refused } = await reconcile(running);
    t.equal(decoded, running.sink.texts().length);
    if (type !== 'gelf_http') {
      t.ok(received > 0);
      t.equal(refused, running.sink.refusals.length);
    }
  });
}

t.test('stop without start is safe', async (t) => {
  for (const { type } of receiverKinds) {
    const { receiver, options } = buildReceiver(type);
    await receiver.stop(10);
    t.equal(receiver.address().port, options.port);
  }
});

t.test('peers read alike whatever socket they came through', (t) => {
  t.equal(peerText('10.0.0.7', 51312), '10.0.0.7:51312');
  t.equal(peerText('fe80::1', 51312), '[fe80::1]:51312');
  t.equal(peerText('::ffff:10.0.0.7', 1), '10.0.0.7:1');
  t.equal(peerText(undefined, undefined), 'unknown');
  t.equal(peerAddress('[fe80::1]:51312'), '[fe80::1]');
  t.equal(peerAddress('unknown'), 'unknown');
  t.end();
});
