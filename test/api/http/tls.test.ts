/** The API over TLS: answers, what is no TLS, old versions, renewed and wrong certificates, client certificates. */
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { rootRoutes } from '../../../api/http/routes/system/root.js';
import { loadConfig } from '../../../program/settings.js';
import { testFolder } from '../../program.js';
import { createCertificates, opensslMissing, type Certificates, type Pair } from '../../receivers/certificates.js';
import { createWorld, type World } from './world.js';

const skip = { skip: opensslMissing };

async function startTls(
  t: Test,
  pair: Pair,
  more: Readonly<Record<string, unknown>> = {},
): Promise<World & { readonly port: number }> {
  const world = await createWorld(t, {
    routes: [rootRoutes],
    settings: { 'api.tls.enabled': true, 'api.tls.cert_file': pair.cert, 'api.tls.key_file': pair.key, ...more },
  });
  await world.start();
  return { ...world, port: world.address().port };
}

function ask(
  port: number,
  options: ConnectionOptions,
): Promise<{ readonly status: number | undefined; readonly name: string | undefined; readonly body: string }> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/api', agent: false, ...options }, (answer) => {
      const name = (answer.socket as TLSSocket).getPeerCertificate().subject.CN;
      let body = '';
      answer
        .setEncoding('utf8')
        .on('data', (text: string) => {
          body += text;
        })
        .on('end', () => {
          resolve({ status: answer.statusCode, name: String(name), body });
        });
    }).on('error', reject);
  });
}

const authorityOf = (made: Certificates): Buffer => readFileSync(made.authority.cert);

t.test('requests are answered over TLS 1.2 and 1.3, and nothing older', skip, async (t) => {
  const made = createCertificates(t);
  const ca = authorityOf(made);
  const { port, address } = await startTls(t, made.server);
  t.equal(address().tls, true);
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
    t.match(
      await ask(port, { ca, minVersion: version, maxVersion: version }),
      { status: 200, name: 'server', body: /"version"/ },
      version,
    );
  await t.rejects(ask(port, { ca, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }), {
    code: /SSL|ECONNRESET|EPROTO/,
  });
  t.match(await ask(port, { ca }), { status: 200 });
});

t.test('what is no TLS ends its own connection and nothing else', skip, async (t) => {
  const made = createCertificates(t);
  const { port } = await startTls(t, made.server);
  for (const bytes of [
    'GET /api HTTP/1.1\r\nHost: x\r\n\r\n',
    '\u0016\u0003\u0001\u0000\u0005hello',
    Buffer.alloc(1_000, 0xff),
  ]) {
    const socket = connectPlain(port, '127.0.0.1');
    socket.on('error', () => undefined).resume();
    socket.write(bytes);
    await once(socket, 'close');
  }
  const half = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(half, 'secureConnect');
  half.write('no HTTP at all\r\n\r\n');
  const [answer] = (await once(half, 'data')) as [Buffer];
  t.match(
    answer.toString(),
    /^HTTP\/1\.1 400 Bad Request\r\n.*\{"type":"ApiError","message":"The request is not valid HTTP\."\}$/s,
  );
  if (!half.closed) await once(half, 'close');
  t.match(await ask(port, { ca: authorityOf(made) }), { status: 200 }, 'it lives on');
});

t.test(
  'a renewed certificate is used without a restart; one that cannot be used leaves the one before',
  skip,
  async (t) => {
    const made = createCertificates(t);
    const ca = authorityOf(made);
    const used: Pair = { cert: join(made.folder, 'used.pem'), key: join(made.folder, 'used.key') };
    const use = (pair: Pair): void => {
      copyFileSync(pair.cert, used.cert);
      copyFileSync(pair.key, used.key);
    };
    use(made.server);
    const { port, certificates } = await startTls(t, used);
    t.equal((await ask(port, { ca })).name, 'server');
    t.equal(certificates?.check(), false);
    use(made.issue('renewed'));
    t.equal(certificates?.check(), true);
    t.equal((await ask(port, { ca })).name, 'renewed');
    writeFileSync(used.cert, 'not a certificate at all');
    t.equal(certificates?.check(), false);
    t.equal((await ask(port, { ca })).name, 'renewed');
  },
);

t.test('client certificates where they are required', skip, async (t) => {
  const made = createCertificates(t);
  const ca = authorityOf(made);
  const { port } = await startTls(t, made.server, {
    'api.tls.client_auth': 'required',
    'api.tls.ca_file': made.authority.cert,
  });
  const of = ({ cert, key }: Pair) => ({ cert: readFileSync(cert), key: readFileSync(key) });
  t.match(await ask(port, { ca, ...of(made.client) }), { status: 200 });
  await t.rejects(ask(port, { ca }));
  await t.rejects(ask(port, { ca, ...of(made.stranger) }));
});

t.test('settings that cannot work are refused with a sentence', skip, async (t) => {
  const made = createCertificates(t);
  await t.rejects(
    startTls(t, { ...made.server, cert: join(made.folder, 'none.pem') }),
    /api\.tls\.cert_file.*none\.pem/s,
  );
  await t.rejects(startTls(t, { cert: made.server.cert, key: made.client.key }), {
    code: 'API_TLS_INVALID',
    message: /api\.tls: The certificate of the API cannot be used\. Got .*key values mismatch/,
  });
  const load = (overrides: Readonly<Record<string, unknown>>): unknown =>
    loadConfig({ folder: testFolder(t), environment: {}, overrides });
  const tls = { 'api.tls.enabled': true, 'api.tls.cert_file': made.server.cert, 'api.tls.key_file': made.server.key };
  t.throws(
    () => load({ 'api.host': '0.0.0.0' }),
    /api\.host: .*"0\.0\.0\.0" without TLS.*127\.0\.0\.1, or api\.tls\.enabled: true, or api\.behind_proxy: true/s,
  );
  t.throws(() => load({ ...tls, 'api.tls.client_auth': 'required' }), /api\.tls\.ca_file/);
  t.doesNotThrow(() => load({ ...tls, 'api.host': '0.0.0.0' }));
});
