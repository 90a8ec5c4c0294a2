import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { LoadOptions } from '../../config/load.js';
import { problemLines } from '../../config/problem.js';
import { loadConfig, settings } from '../../program/settings.js';
import { receiverKinds } from '../../receivers/registry.js';

/** As messages list them. */
const kinds = receiverKinds.map(({ type }) => type).join(', ');

const folder = mkdtempSync(join(tmpdir(), 'sluice config '));
t.teardown(() => rmSync(folder, { recursive: true }));

function load(text: string, environment: LoadOptions['environment'] = {}, overrides?: Record<string, unknown>) {
  writeFileSync(join(folder, 'sluice.yaml'), text);
  return loadConfig({ folder, environment, overrides });
}

function problems(
  text: string,
  environment: LoadOptions['environment'] = {},
  overrides?: Record<string, unknown>,
): string[] {
  writeFileSync(join(folder, 'sluice.yaml'), text);
  return problemLines(settings.read({ folder, environment, overrides }).problems);
}

t.test('no file at all is all the defaults, with paths from the working folder', async (t) => {
  const { config, files, warnings } = loadConfig({ folder: tmpdir(), environment: {} });
  t.same(files, []);
  t.same(warnings, []);
  t.equal(config.data_folder, join(tmpdir(), 'data'));
  t.equal(config.topics.kind, 'embedded');
  t.same(
    config.receivers.map((receiver) => [receiver.type, receiver.name, receiver.port]),
    [
      ['gelf_tcp', 'gelf-tcp', 12201],
      ['gelf_udp', 'gelf-udp', 12201],
      ['gelf_http', 'gelf-http', 12202],
    ],
  );
  t.equal(config.store.embedded.max_total_bytes, null);
});

t.test('a named file that is missing is an error, from the option and from the environment', async (t) => {
  t.throws(() => loadConfig({ folder, file: 'other.yaml', environment: {} }), {
    code: 'CONFIG_INVALID',
    message: /other\.yaml: The settings file does not exist/,
  });
  t.throws(() => loadConfig({ folder, environment: { SLUICE_CONFIG: 'third.yaml' } }), { message: /third\.yaml/ });
});

t.test('an empty file and a file of comments are all the defaults', async (t) => {
  t.equal(load('').config.log_level, 'info');
  t.equal(load('# nothing\n').config.admin.port, 9833);
});

t.test('sizes are read with their units', async (t) => {
  const { config } = load(
    'topics: {batch_bytes: 2 MiB, retention_bytes: "20 GB"}\nstore: {embedded: {max_total_bytes: 1TiB}}\nreceivers: [{type: gelf_tcp, max_frame_bytes: 1 MB, framing: null}]',
  );
  t.equal(config.topics.batch_bytes, 2 * 2 ** 20);
  t.equal(config.topics.retention_bytes, 20e9);
  t.equal(config.store.embedded.max_total_bytes, 2 ** 40);
  t.match(config.receivers[0], { max_frame_bytes: 1e6, framing: 'null' });
});

t.test('variables stand over the file and overrides over both', async (t) => {
  const { config } = load(
    'topics: {kind: embedded, partitions: 2}\nlog_level: warn',
    {
      SLUICE_TOPICS__KIND: 'kafka',
      SLUICE_TOPICS__KAFKA__BROKERS: 'a:9092, b:9092',
      SLUICE_RECEIVERS__0__PORT: '0',
      SLUICE_RECEIVERS__1__TLS__ENABLED: undefined,
      SLUICE_ADMIN__ENABLED: 'false',
      SLUICE_STORE__EMBEDDED__MEMORY_BYTES: '1 GiB',
      SLUICE_TEST_KAFKA: 'ignored',
      SLUICE_SERVICE_HOST: '10.0.0.1',
      SLUICE_PORT_12201_TCP_ADDR: '10.0.0.1',
      OTHER: 'x',
    },
    { 'topics.partitions': 8, log_level: undefined },
  );
  t.equal(config.topics.kind, 'kafka');
  t.equal(config.topics.partitions, 8);
  t.equal(config.log_level, 'warn');
  t.match(config.topics, { kafka: { brokers: ['a:9092', 'b:9092'] } });
  t.equal(config.receivers.length, 3);
  t.equal(config.receivers[0]?.port, 0);
  t.equal(config.admin.enabled, false);
  t.equal(config.store.embedded.memory_bytes, 2 ** 30);
});

t.test('a list is set as JSON, by place, and grows by one', async (t) => {
  t.same(
    load('', { SLUICE_RECEIVERS: '[{"type":"gelf_udp"}]' }).config.receivers.map((one) => one.type),
    ['gelf_udp'],
  );
  t.same(
    load('receivers: [{type: gelf_tcp}]', {
      SLUICE_RECEIVERS__1__PORT: '7',
      SLUICE_RECEIVERS__1__TYPE: 'gelf_udp',
    }).config.receivers.map((one) => [one.type, one.port]),
    [
      ['gelf_tcp', 12201],
      ['gelf_udp', 7],
    ],
  );
  t.match(load('', { SLUICE_TOPICS__KAFKA__BROKERS__0: 'x:1' }).config.topics, { kafka: { brokers: ['x:1'] } });
});

const wrong: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'an unknown setting',
    'topics:\n  partitons: 4\n',
    [
      'sluice.yaml:2:3: topics: There is no such setting. Got partitons. Allowed: kind, prefix, partitions, max_message_bytes, retention_bytes, retention_ms, batch_bytes, linger_ms, unanswered_linger_ms, max_waiting_bytes, embedded, kafka. Did you mean partitions.',
    ],
  ],
  [
    'a word outside the list',
    'store:\n  kind: opensaerch',
    [
      'sluice.yaml:2:9: store.kind: The setting does not take this value. Got "opensaerch". Allowed: embedded, opensearch. Did you mean opensearch.',
    ],
  ],
  [
    'a port out of range',
    'admin: {port: 70000}',
    [
      'sluice.yaml:1:15: admin.port: The setting does not take this value. Got 70000. Allowed: a whole number from 0 to 65535.',
    ],
  ],
  [
    'yes for true',
    'admin:\n  enabled: yes',
    [
      'sluice.yaml:2:12: admin.enabled: The setting does not take this value. Got "yes". Allowed: true or false. Did you mean true.',
    ],
  ],
  [
    'a setting of another variant',
    'receivers:\n  - type: gelf_udp\n    max_frame_bytes: 5\n  - type: gelf_tcp\n    port: x',
    [
      'sluice.yaml:3:5: receivers[0]: There is no such setting. Got max_frame_bytes. Allowed: type, name, host, port, receive_buffer_bytes, max_inflated_bytes, chunk_timeout_ms, max_chunk_sets, max_chunk_bytes, timestamp.',
      'sluice.yaml:5:11: receivers[1].port: The setting does not take this value. Got "x". Allowed: a whole number from 0 to 65535.',
    ],
  ],
  [
    'an unknown type',
    'receivers:\n  - type: gelf_tpc',
    [
      `sluice.yaml:2:11: receivers[0].type: The setting does not take this value. Got "gelf_tpc". Allowed: ${kinds}. Did you mean gelf_tcp.`,
    ],
  ],
  [
    'no type',
    'receivers:\n  - port: 1',
    [`sluice.yaml:2:5: receivers[0].type: The setting does not take this value. Got nothing. Allowed: ${kinds}.`],
  ],
  [
    'a size without sense',
    'topics: {batch_bytes: 5 apples}',
    [
      'sluice.yaml:1:23: topics.batch_bytes: The setting does not take this value. Got "5 apples". Allowed: a whole number of at least 1, or a size such as 64 MiB.',
    ],
  ],
  [
    'a list instead of a mapping',
    'topics: []',
    ['sluice.yaml:1:9: topics: The setting does not take this value. Got []. Allowed: a mapping.'],
  ],
  [
    'a list at the top',
    '- a',
    ['sluice.yaml:1:1: The setting does not take this value. Got a list. Allowed: a mapping of settings.'],
  ],
  [
    'two of one key',
    'a: 1\na: 2',
    ['sluice.yaml:2:1: The settings file is not valid YAML. Got Map keys must be unique.'],
  ],
  [
    'broken YAML',
    'a: [1',
    [
      'sluice.yaml:1:6: The settings file is not valid YAML. Got Flow sequence in block collection must be sufficiently indented and end with a ].',
    ],
  ],
  [
    'a secret that is no text is not shown',
    'topics: {kafka: {sasl: {password: 12345}}}',
    [
      'sluice.yaml:1:35: topics.kafka.sasl.password: The setting does not take this value. Got a hidden number. Allowed: text.',
    ],
  ],
  [
    'a name from Object.prototype',
    'constructor: 1',
    [
      'sluice.yaml:1:1: There is no such setting. Got constructor. Allowed: data_folder, log_level, admin, api, workers, receivers, topics, store, processing, search, access, rules.',
    ],
  ],
];
t.test('a wrong setting is told with its place, what came and what is allowed', async (t) => {
  for (const [name, text, want] of wrong) t.same(problems(text), want, name);
});

t.test('a wrong variable is told by its name', async (t) => {
  t.same(problems('', { SLUICE_TOPIC__KIND: 'kafka' }), [
    'SLUICE_TOPIC__KIND: There is no such setting. Got topic. Allowed: data_folder, log_level, admin, api, workers, receivers, topics, store, processing, search, access, rules. Did you mean SLUICE_TOPICS__KIND.',
  ]);
  t.same(problems('admin: {port: 1}', { SLUICE_ADMIN__PORT: 'x' }), [
    'SLUICE_ADMIN__PORT: admin.port: The setting does not take this value. Got "x". Allowed: a whole number from 0 to 65535.',
  ]);
  t.match(
    problems('', { SLUICE_RECEIVERS__9__PORT: '1' })[0],
    /SLUICE_RECEIVERS__9__PORT: .* Got place 9 of a list of 3/,
  );
  t.match(problems('', { SLUICE_RECEIVERS__X: '1' })[0], /a number, the place in the list/);
  t.match(problems('', { SLUICE___PROTO____X: '1' })[0], /There is no such setting/);
  t.match(problems('', { SLUICE_CONSTRUCTOR: '1' })[0], /There is no such setting/);
  t.match(problems('', { SLUICE_LOG_LEVEL__DEEP: '1' })[0], /nothing below/);
  t.match(problems('', {}, { 'topics.knid': 'kafka' })[0], /override topics\.knid: .*Did you mean kind/);
});

t.test('secrets come from files and the environment and are never shown', async (t) => {
  mkdirSync(join(folder, 'run'), { recursive: true });
  writeFileSync(join(folder, 'run', 'password'), 'from a file\n');
  const sasl = (password: string) =>
    `topics: {kafka: {sasl: {mechanism: plain, username: u, password: '${password}'}}}`;
  const loaded = load(sasl('file:run/password'));
  t.match(loaded.config.topics, { kafka: { sasl: { password: 'from a file' } } });
  t.same(loaded.files, [join(folder, 'sluice.yaml'), join(folder, 'run', 'password')]);
  t.match(load(sasl('env:SECRET'), { SECRET: 'from env' }).config.topics, {
    kafka: { sasl: { password: 'from env' } },
  });
  t.notMatch(JSON.stringify(settings.withoutSecrets(load(sasl('top secret')).config)), 'top secret');
  t.match(settings.withoutSecrets(load(sasl('x')).config), {
    topics: { kafka: { sasl: { username: 'u', password: '<hidden>' } } },
    store: { opensearch: { password: '' } },
  });
  t.match(
    problems(sasl('file:run/none'))[0],
    /sluice\.yaml:1:\d+: topics\.kafka\.sasl\.password: The secret that the setting names cannot be read\. Got file:.*run\/none \(no such file\)/,
  );
  t.match(problems(sasl('env:NONE'))[0], /env:NONE, which is not set/);
});

t.test('paths start at the settings file, wherever the program runs', async (t) => {
  mkdirSync(join(folder, 'etc'), { recursive: true });
  writeFileSync(join(folder, 'etc', 's.yaml'), 'data_folder: ../state\nrules: {folder: /abs}\n');
  const { config } = loadConfig({ folder: '/', file: join(folder, 'etc', 's.yaml'), environment: {} });
  t.equal(config.data_folder, join(folder, 'state'));
  t.equal(config.rules.folder, '/abs');
});

const conflicts: readonly (readonly [string, string, RegExp])[] = [
  [
    'two receivers on one port',
    'receivers: [{type: gelf_tcp, port: 5, name: a}, {type: gelf_http, port: 5, host: 127.0.0.1, name: b}]',
    /receivers\[1\]\.port: .* TCP port 5, which receiver a has taken/,
  ],
  ['admin on the port of a receiver', 'admin: {port: 12201}', /admin\.port: .* which receiver gelf-tcp has taken/],
  [
    'two receivers of one name',
    'receivers: [{type: gelf_tcp, port: 0}, {type: gelf_tcp, port: 0}]',
    /receivers\[1\]\.name: .*gelf-tcp a second time/,
  ],
  [
    'TLS without files',
    'receivers: [{type: gelf_tcp, tls: {enabled: true}}]',
    /tls\.cert_file: .*nothing, with tls\.enabled: true/,
  ],
  [
    'client certificates without authorities',
    'receivers: [{type: gelf_tcp, tls: {enabled: true, cert_file: sluice.yaml, key_file: sluice.yaml, client_auth: required}}]',
    /tls\.ca_file/,
  ],
  [
    'a TLS file that is not there',
    'receivers: [{type: gelf_tcp, tls: {enabled: true, cert_file: no.pem, key_file: sluice.yaml}}]',
    /no\.pem \(no such file\)/,
  ],
  ['Kafka without brokers', 'topics: {kind: kafka, kafka: {brokers: []}}', /brokers: .*an empty list/],
  [
    'a broker without a port',
    'topics: {kind: kafka, kafka: {brokers: [localhost]}}',
    /brokers\[0\]: .*"localhost".*host:port/,
  ],
  [
    'SASL without a password',
    'topics: {kind: kafka, kafka: {sasl: {mechanism: plain, username: a}}}',
    /sasl\.password/,
  ],
  ['heartbeats too slow', 'topics: {kind: kafka, kafka: {heartbeat_ms: 5000}}', /heartbeat_ms/],
  ['an address without a protocol', 'store: {kind: opensearch, opensearch: {nodes: ["localhost:9200"]}}', /nodes\[0\]/],
  [
    'a password in an address',
    'store: {kind: opensearch, opensearch: {nodes: ["http://u:geheim@h:9200"]}}',
    /a password in the address/,
  ],
  [
    'messages larger than the topic takes',
    'topics: {max_message_bytes: 8 MiB}',
    /max_inflated_bytes: .*not below topics\.max_message_bytes/,
  ],
];
t.test('settings that do not go together are told', async (t) => {
  for (const [name, text, want] of conflicts) t.match(problems(text).join('\n'), want, name);
  t.notMatch(problems('store: {kind: opensearch, opensearch: {nodes: ["http://u:geheim@h:9200"]}}').join(), 'geheim');
  t.same(
    problems('receivers: [{type: gelf_tcp, port: 5, name: a}, {type: gelf_udp, port: 5, name: b}]'),
    [],
    'TCP and UDP share a number',
  );
  t.same(
    problems(
      'receivers: [{type: gelf_tcp, port: 5, host: 127.0.0.1, name: a}, {type: gelf_tcp, port: 5, host: 127.0.0.2, name: b}]',
    ),
    [],
    'two addresses',
  );
  t.match(load('receivers: []').warnings, [/nothing will come in/]);
});
