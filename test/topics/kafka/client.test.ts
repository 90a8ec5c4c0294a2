import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, Socket, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import kafkajs from 'kafkajs';
import { pino } from 'pino';
import t from 'tap';
import { silentLog } from '../../../core/log.js';
import { Registry } from '../../../core/metrics.js';
import { kafkaConfig } from '../../../topics/kafka/client/client.js';
import { kafkaSettings, type KafkaTopicLogOptions } from '../../../topics/kafka/options.js';
import { createKafkaTopicLog } from '../../../topics/kafka.js';

const configOf = (changes: Partial<KafkaTopicLogOptions> = {}) =>
  kafkaConfig(kafkaSettings({ brokers: ['127.0.0.1:9092'], log: silentLog, registry: new Registry(), ...changes }));
const noTls = { enabled: false, ca_file: '', cert_file: '', key_file: '', reject_unauthorized: true };

t.test('without TLS and login neither is asked for', async (test) => {
  const config = configOf({ tls: noTls, sasl: { mechanism: 'none', username: '', password: '' } });
  test.notOk('ssl' in config);
  test.notOk('sasl' in config);
});

t.test('TLS takes its files; an empty one is left to the system', async (test) => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-kafka-'));
  test.teardown(() => rm(folder, { recursive: true }));
  const ca_file = join(folder, 'ca.pem');
  await writeFile(ca_file, 'authorities');
  test.same(configOf({ tls: { ...noTls, enabled: true, ca_file, reject_unauthorized: false } }).ssl, {
    ca: Buffer.from('authorities'),
    rejectUnauthorized: false,
  });
});

t.test('small requests are sent at once, and a broker that vanished is found', async (test) => {
  const called: string[] = [];
  test.intercept(Socket.prototype, 'setNoDelay', { value: () => called.push('no delay') });
  test.intercept(Socket.prototype, 'setKeepAlive', { value: () => called.push('keep alive') });
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = configOf().socketFactory?.({
    host: '127.0.0.1',
    port,
    ssl: undefined as never,
    onConnect: () => undefined,
  });
  socket?.destroy();
  server.close();
  test.same(called, ['no delay', 'keep alive']);
});

t.test('what kafkajs says again and again is told a few times; its errors are for those who debug', async (test) => {
  const lines: { readonly level: number; readonly msg: string }[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as (typeof lines)[number]);
  const logger = pino({ level: 'debug' }, { write });
  const say = configOf({ log: logger }).logCreator?.(kafkajs.logLevel.INFO);
  const entry = (level: number, message: string) =>
    say?.({ namespace: 'Connection', level, label: '', log: { timestamp: '', logger: 'kafkajs', message } });
  for (let time = 0; time < 50; time += 1) entry(kafkajs.logLevel.WARN, 'again');
  entry(kafkajs.logLevel.ERROR, 'a retry');
  test.equal(lines.filter(({ level, msg }) => level === 40 && msg === 'kafka: again').length, 6);
  test.match(lines.at(-1), { level: 20, msg: 'kafka: a retry' });
});

t.test('each login mechanism is handed on', async (test) => {
  for (const mechanism of ['plain', 'scram-sha-256', 'scram-sha-512'] as const) {
    test.same(configOf({ sasl: { mechanism, username: 'sluice', password: 'secret' } }).sasl, {
      mechanism,
      username: 'sluice',
      password: 'secret',
    });
  }
});

t.test('start says so when no broker answers within its deadline, and stop is safe afterwards', async (test) => {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  test.teardown(() => server.close());
  const brokers = [`127.0.0.1:${(server.address() as AddressInfo).port}`];
  const log = createKafkaTopicLog({ brokers, log: silentLog, registry: new Registry(), startPatienceMs: 0 });
  test.equal(log.writable().ok, false);
  await test.rejects(log.append('logs', 0, []), { code: 'TOPIC_LOG_NOT_STARTED' });
  await test.rejects(log.start(), { code: 'TOPIC_BROKERS_UNREACHABLE', place: brokers[0] });
  await log.stop(100);
  await log.stop(100);
  await createKafkaTopicLog({ brokers, log: silentLog, registry: new Registry() }).stop(100);
});
