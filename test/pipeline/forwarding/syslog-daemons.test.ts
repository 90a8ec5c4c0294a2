/** Real receivers of syslog take what leaves as it was meant. */
process.env['TZ'] = 'UTC';
import t, { type Test } from 'tap';
import { until } from '../../program.js';
import { createCertificates, opensslMissing } from '../../receivers/certificates.js';
import {
  rsyslogMissing,
  rsyslogTlsMissing,
  startRsyslog,
  startSyslogNg,
  syslogNgMissing,
  type Daemon,
} from '../../sinks/outputs/syslog-daemons.js';
import { createWorld, type Settings } from './world.js';

const message = (number: number): string =>
  JSON.stringify({
    version: '1.1',
    host: 'web-1',
    short_message: `number ${number}, two\n<0>1 - evil - - - lines`,
    timestamp: 1_700_000_000.5,
    level: 3,
    facility: 'local1',
    _container_name: 'shop',
    _path: 'a"b]c\\d',
  });
const text = (number: number): string => `number ${number}, two\\n<0>1 - evil - - - lines`;

async function takes(
  t: Test,
  daemon: Daemon,
  settings: Omit<Settings, 'id'>,
  wanted: (number: number) => string,
): Promise<void> {
  const world = await createWorld(t, [{ id: 'out', type: 'syslog', port: daemon.port, ...settings }]);
  const count = settings['protocol'] === 'udp' ? 60 : 300; // datagrams that a usual receive buffer holds
  await world.append(
    'out',
    Array.from({ length: count }, (_, number) => message(number)),
  );
  await until(
    () => (daemon.lines().length >= count ? true : undefined),
    10_000,
    () => `${daemon.lines().length} lines; ${JSON.stringify(world.logged.slice(-3))}`,
  );
  await world.sentAll('out');
  t.same(
    daemon.lines(),
    Array.from({ length: count }, (_, number) => wanted(number)),
    'each message is one line, and says what it was meant to say',
  );
}

const data = '[gelf@32473 path="a\\"b\\]c\\\\d"]';

t.test('rsyslog', { skip: rsyslogMissing }, async (t) => {
  const line5424 = (number: number): string => `139|2023-11-14T22:13:20.500Z|web-1|shop|-|${data}|${text(number)}`;
  const line3164 = (number: number): string => `139|2023-11-14T22:13:20+00:00|web-1|shop|-|-| ${text(number)}`;
  await t.test('RFC 5424 over TCP, counted', async (t) => takes(t, await startRsyslog(t, 'tcp'), {}, line5424));
  await t.test('RFC 5424 over TCP, newlines', async (t) =>
    takes(t, await startRsyslog(t, 'tcp'), { syslog: { framing: 'newline' } }, line5424),
  );
  await t.test('RFC 5424 over UDP', async (t) => takes(t, await startRsyslog(t, 'udp'), { protocol: 'udp' }, line5424));
  const year = new Date().getUTCFullYear();
  const local = (line: (number: number) => string) => (number: number) => line(number).replace('2023', String(year));
  await t.test('RFC 3164 over TCP', async (t) =>
    takes(t, await startRsyslog(t, 'tcp'), { syslog: { format: 'rfc3164' } }, local(line3164)),
  );
  await t.test('RFC 3164 over UDP', async (t) =>
    takes(t, await startRsyslog(t, 'udp'), { protocol: 'udp', syslog: { format: 'rfc3164' } }, local(line3164)),
  );
  await t.test(
    'RFC 5424 over TLS with a client certificate',
    { skip: rsyslogTlsMissing || opensslMissing },
    async (t) => {
      const certificates = createCertificates(t);
      const tls = {
        ca_file: certificates.authority.cert,
        cert_file: certificates.client.cert,
        key_file: certificates.client.key,
      };
      await takes(t, await startRsyslog(t, 'tls', certificates), { tls }, line5424);
    },
  );
});

t.test('syslog-ng', { skip: syslogNgMissing }, async (t) => {
  const line5424 = (number: number): string => `139|2023-11-14T22:13:20+00:00|web-1|shop||${data}|${text(number)}`;
  await t.test('RFC 5424 over TCP, counted', async (t) =>
    takes(t, await startSyslogNg(t, 'tcp', 'rfc5424'), {}, line5424),
  );
  await t.test('RFC 5424 over UDP', async (t) =>
    takes(t, await startSyslogNg(t, 'udp', 'rfc5424'), { protocol: 'udp' }, line5424),
  );
  const line3164 = (number: number): string =>
    `139|${new Date().getUTCFullYear()}-11-14T22:13:20+00:00|web-1|shop|||${text(number)}`;
  await t.test('RFC 3164 over TCP', async (t) =>
    takes(t, await startSyslogNg(t, 'tcp', 'rfc3164'), { syslog: { format: 'rfc3164', framing: 'newline' } }, line3164),
  );
});
