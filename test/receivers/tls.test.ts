import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect, createServer as createTlsServer, type ConnectionOptions, type TLSSocket } from 'node:tls';
import t from 'tap';
import { silentLog } from '../../core/log.js';
import { watchCertificates } from '../../receivers/listen/tls.js';
import { createCertificates, opensslMissing, type Pair } from './certificates.js';
import { connectTo, gelf, sendOverTcp, startReceiver, until } from './receiving.js';

const skip = { skip: opensslMissing };
const settingsOf = (pair: Pair, more: Record<string, unknown> = {}) => ({
  tls: { enabled: true, cert_file: pair.cert, key_file: pair.key, ...more },
});

/** A handshake, whatever becomes of it: the socket, and the error or undefined. */
async function handshake(
  port: number,
  options: ConnectionOptions,
): Promise<{ socket: TLSSocket; error: Error | undefined }> {
  const socket = connect({ port, host: '127.0.0.1', ...options });
  const error = await new Promise<Error | undefined>((resolve) => {
    socket.once('secureConnect', () => {
      resolve(undefined);
    });
    socket.once('error', resolve);
  });
  socket.on('error', () => {});
  return { socket, error };
}

t.test('GELF over TLS arrives, down to TLS 1.2 and no further', skip, async (t) => {
  const made = createCertificates(t);
  const ca = readFileSync(made.authority.cert);
  const { sink, port, receiver } = await startReceiver(t, 'gelf_tcp', settingsOf(made.server));
  t.match(receiver.address(), { protocol: 'gelf-tcp', tls: true });
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const { socket, error } = await handshake(port, { ca, minVersion: version, maxVersion: version });
    t.equal(error, undefined, version);
    socket.end(`${gelf(version)}\0${gelf('last')}`);
    socket.resume();
    await once(socket, 'close');
  }
  await until('all', () => sink.texts().length === 4);
  t.same(sink.shorts(), ['TLSv1.2', 'last', 'TLSv1.3', 'last']);
  const { error } = await handshake(port, {
    ca,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'ALL:@SECLEVEL=0',
  });
  t.ok(error);
});

t.test('client certificates: none, wrong and right, when required and when optional', skip, async (t) => {
  const made = createCertificates(t);
  const ca = readFileSync(made.authority.cert);
  const of = (pair: Pair) => ({ cert: readFileSync(pair.cert), key: readFileSync(pair.key) });
  for (const [mode, wanted] of [
    ['required', ['client']],
    ['optional', ['client', 'none']],
  ] as const) {
    const running = await startReceiver(
      t,
      'gelf_tcp',
      settingsOf(made.server, { ca_file: made.authority.cert, client_auth: mode }),
    );
    for (const [name, options] of Object.entries({ none: {}, stranger: of(made.stranger), client: of(made.client) })) {
      const { socket } = await handshake(running.port, { ca, ...options });
      socket.resume();
      socket.end(`${gelf(name)}\0`);
      if (!socket.destroyed) await once(socket, 'close');
    }
    await until('all connections to close', async () => (await running.count('sluice_connections_open')) === 0);
    t.same(running.sink.shorts().sort(), [...wanted], mode);
    const refused = 3 - wanted.length;
    t.equal(await running.count('sluice_connections_closed_total', { reason: 'tls_failed' }), refused, mode);
    t.equal(await running.count('sluice_diagnoses_made_total', { diagnosis: 'tls_handshake_failed' }), refused, mode);
    t.match(
      running.lines.find((line) => line['diagnosis'] === 'tls_handshake_failed'),
      { peer: /^127\.0\.0\.1:\d/, got: /certificate/ },
    );
  }
});

t.test('plain bytes on the TLS port are named with their sender, and a mere port check is not', skip, async (t) => {
  const made = createCertificates(t);
  const running = await startReceiver(t, 'gelf_tcp', settingsOf(made.server));
  const check = await connectTo(t, running.port);
  check.end();
  await sendOverTcp(t, running.port, `${gelf('plain')}\0`);
  await until(
    'the diagnosis',
    async () => (await running.count('sluice_diagnoses_made_total', { diagnosis: 'plain_on_tls_port' })) === 1,
  );
  t.match(
    running.lines.find((line) => line['diagnosis'] === 'plain_on_tls_port'),
    { peer: /^127\.0\.0\.1:\d/, cure: /Enable TLS in the sender/ },
  );
  await until(
    'both closed',
    async () => (await running.count('sluice_connections_closed_total', { reason: 'tls_failed' })) === 2,
  );
  t.equal(running.sink.batches.length + running.sink.refusals.length, 0);
});

t.test('GELF over HTTPS is answered, and client certificates hold there too', skip, async (t) => {
  const made = createCertificates(t);
  const ca = readFileSync(made.authority.cert);
  const post = (port: number, options: object) =>
    new Promise<number>((resolve, reject) => {
      const outgoing = request(
        { host: '127.0.0.1', port, path: '/gelf', method: 'POST', ca, agent: false, ...options },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      outgoing.on('error', reject);
      outgoing.end(gelf('https'));
    });
  const open = await startReceiver(t, 'gelf_http', settingsOf(made.server));
  t.equal(await post(open.port, {}), 202);
  for (const mode of ['required', 'optional']) {
    const strict = await startReceiver(
      t,
      'gelf_http',
      settingsOf(made.server, { ca_file: made.authority.cert, client_auth: mode }),
    );
    const stranger = { cert: readFileSync(made.stranger.cert), key: readFileSync(made.stranger.key) };
    await t.rejects(post(strict.port, stranger), mode);
    t.equal(
      await post(strict.port, { cert: readFileSync(made.client.cert), key: readFileSync(made.client.key) }),
      202,
      mode,
    );
    t.equal(strict.sink.texts().length, 1);
  }
});

t.test('a changed certificate is used for new connections, a broken one leaves the old in place', skip, async (t) => {
  const made = createCertificates(t);
  const ca = readFileSync(made.authority.cert);
  const live = { cert: `${made.folder}/live.pem`, key: `${made.folder}/live.key` };
  const use = (pair: Pair) => {
    copyFileSync(pair.key, live.key);
    copyFileSync(pair.cert, live.cert);
  };
  use(made.server);
  const tls = {
    enabled: true,
    cert_file: live.cert,
    key_file: live.key,
    key_password: '',
    ca_file: '',
    client_auth: 'none',
  } as const;
  const server = createTlsServer({ cert: readFileSync(live.cert), key: readFileSync(live.key) });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
  });
  const port = (server.address() as AddressInfo).port;
  const watch = watchCertificates(server, 'test', tls, silentLog);
  t.teardown(() => {
    watch.stop();
  });
  const servedName = async () => {
    const { socket } = await handshake(port, { ca });
    const name = socket.getPeerCertificate().subject.CN;
    socket.destroy();
    return name;
  };
  t.equal(watch.check(), false);
  t.equal(await servedName(), 'server');
  use(made.issue('renewed'));
  t.equal(watch.check(), true);
  t.equal(await servedName(), 'renewed');
  writeFileSync(live.cert, 'not a certificate');
  t.equal(watch.check(), false);
  t.equal(await servedName(), 'renewed');
});

t.test('TLS settings that cannot work are said at start', skip, async (t) => {
  const made = createCertificates(t);
  const cases: [string, Record<string, unknown>, RegExp][] = [
    ['no certificate', { tls: { enabled: true } }, /cert_file/],
    ['missing file', settingsOf({ cert: '/no/such.pem', key: made.server.key }), /\/no\/such\.pem/],
    ['key of another certificate', settingsOf({ cert: made.server.cert, key: made.client.key }), /mismatch/],
    ['client_auth without ca_file', settingsOf(made.server, { client_auth: 'required' }), /ca_file/],
  ];
  for (const type of ['gelf_tcp', 'gelf_http'] as const) {
    for (const [name, settings, wanted] of cases)
      await t.rejects(
        startReceiver(t, type, settings),
        { code: 'RECEIVER_TLS_INVALID', message: wanted },
        `${type}: ${name}`,
      );
  }
});
