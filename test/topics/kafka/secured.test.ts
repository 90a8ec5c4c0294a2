/** TLS and logins against a live broker of the test's own. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { silentLog } from '../../../core/log.js';
import { Registry } from '../../../core/metrics.js';
import { createKafkaTopicLog, type KafkaTopicLogOptions } from '../../../topics/kafka.js';
import { freePorts, skipWithoutEngines, startEngines } from '../../engines.js';
import { testFolder } from '../../program.js';
import { createCertificates, opensslMissing } from '../../receivers/certificates.js';
import { consumeOptions, createCollector, createRecords, topicSpec, waitUntil } from '../collect.js';

const skip = skipWithoutEngines().skip || opensslMissing;
const login = { username: 'sluice', password: 'secret' };
const plainModule = `org.apache.kafka.common.security.plain.PlainLoginModule required user_${login.username}="${login.password}";`;
const scramModule = 'org.apache.kafka.common.security.scram.ScramLoginModule required;';

t.test(
  'records go and come over TLS, after a login with each mechanism; who cannot prove itself is refused',
  { skip, timeout: 300_000 },
  async (t) => {
    const certificates = createCertificates(t);
    const folder = testFolder(t);
    const keyStore = join(folder, 'broker.pem');
    writeFileSync(
      keyStore,
      readFileSync(certificates.server.key, 'utf8') + readFileSync(certificates.server.cert, 'utf8'),
    );
    const port = await freePorts(3);
    const address = `127.0.0.1:${port + 2}`;
    const engines = await startEngines({
      home: join(folder, 'engines'),
      engines: ['kafka'],
      kafkaPort: port,
      environment: {
        KAFKA_HEAP: '256m',
        KAFKA_FORMAT: `--add-scram=SCRAM-SHA-256=[name=${login.username},password=${login.password}]`,
        KAFKA_PROPERTIES: [
          `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${port + 1},CLIENT://${address}`,
          `advertised.listeners=PLAINTEXT://127.0.0.1:${port},CLIENT://${address}`,
          'listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,CLIENT:SASL_SSL',
          'inter.broker.listener.name=PLAINTEXT',
          'sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256',
          `listener.name.client.plain.sasl.jaas.config=${plainModule}`,
          `listener.name.client.scram-sha-256.sasl.jaas.config=${scramModule}`,
          'ssl.keystore.type=PEM',
          `ssl.keystore.location=${keyStore.replaceAll(' ', '\\ ')}`,
        ].join('\n'),
      },
    });
    t.teardown(() => engines.stop());
    const tls = {
      enabled: true,
      ca_file: certificates.authority.cert,
      cert_file: '',
      key_file: '',
      reject_unauthorized: true,
    };
    const open = (changes: Partial<KafkaTopicLogOptions>) => {
      const log = createKafkaTopicLog({
        brokers: [address],
        log: silentLog,
        registry: new Registry(),
        tls,
        startPatienceMs: 10_000,
        ...changes,
      });
      t.teardown(() => log.stop(1_000));
      return log;
    };
    for (const mechanism of ['plain', 'scram-sha-256'] as const) {
      const log = open({ sasl: { mechanism, ...login } });
      await log.start();
      await log.ensureTopics([topicSpec(mechanism)]);
      await log.append(mechanism, 0, createRecords(0, 10));
      const collector = createCollector();
      await log.consume(consumeOptions(`group-${mechanism}`, mechanism), collector);
      await waitUntil('the records', () => collector.keys.length === 10, 90_000);
      await waitUntil(
        'the commit',
        async () => (await log.committed(`group-${mechanism}`, mechanism)).get(0) === 10,
        90_000,
      );
      t.equal((await log.generation(mechanism)) > 0, true, mechanism);
      await log.stop(5_000);
      await t.rejects(
        open({ sasl: { mechanism, username: login.username, password: 'wrong' } }).start(),
        { code: 'TOPIC_BROKERS_UNREACHABLE' },
        `${mechanism}: a wrong password`,
      );
    }
    await t.rejects(
      open({ sasl: { mechanism: 'plain', ...login }, tls: { ...tls, ca_file: certificates.stranger.cert } }).start(),
      { code: 'TOPIC_BROKERS_UNREACHABLE' },
      'a broker that an unknown authority signed',
    );
  },
);
