import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import { createCertificates, opensslMissing } from '../certificates.js';
import { startReceiver, until } from '../receiving.js';

const kinds = (['gelf_tcp', 'gelf_http'] as const).flatMap((type) => [
  { type, tls: false },
  { type, tls: true },
]);

for (const { type, tls } of kinds) {
  t.test(
    `connections of one address beyond its limit are closed at once and counted, others are not (${type}${tls ? ' with TLS' : ''})`,
    { skip: tls && opensslMissing },
    async (t) => {
      const made = tls ? createCertificates(t) : undefined;
      const settings =
        made === undefined ? {} : { tls: { enabled: true, cert_file: made.server.cert, key_file: made.server.key } };
      const { port, count, lines } = await startReceiver(t, type, { max_connections_per_address: 2, ...settings });
      const connect = (localAddress: string): Socket => {
        const plain = connectPlain({ port, host: '127.0.0.1', localAddress });
        plain.on('error', () => {});
        const socket =
          made === undefined
            ? plain
            : connectTls({
                socket: plain,
                ca: readFileSync(made.authority.cert),
                checkServerIdentity: () => undefined,
              });
        socket.on('error', () => {});
        socket.resume();
        t.teardown(() => {
          socket.destroy();
        });
        return socket;
      };
      const opened = tls ? 'secureConnect' : 'connect';
      const first = connect('127.0.0.2');
      await once(first, opened);
      await once(connect('127.0.0.2'), opened);
      const refused = connect('127.0.0.2');
      await new Promise((resolve) => {
        refused.once('close', resolve);
      });
      await until(
        'the close is counted',
        async () => (await count('sluice_connections_closed_total', { reason: 'address_limit' })) === 1,
      );
      await once(connect('127.0.0.3'), opened);
      t.equal(await count('sluice_connections_open'), 3);
      t.equal(await count('sluice_connections_opened_total'), 4);
      t.equal(await count('sluice_diagnoses_made_total', { diagnosis: 'too_many_from_address' }), 1);
      t.ok(lines.some((line) => line['diagnosis'] === 'too_many_from_address'));
      first.destroy();
      await until('its place is free', async () => (await count('sluice_connections_open')) === 2);
      await once(connect('127.0.0.2'), opened);
      await until('it stays', async () => (await count('sluice_connections_open')) === 3);
      t.equal(await count('sluice_connections_closed_total', { reason: 'address_limit' }), 1);
      t.equal(await count('sluice_connections_closed_total', { reason: 'tls_failed' }), 0);
    },
  );
}
