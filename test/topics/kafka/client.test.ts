import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
