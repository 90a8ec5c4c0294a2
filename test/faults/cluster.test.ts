/**
 * Receiver and processor as one process each on a Kafka and an OpenSearch of their own, under load, while each of them is
 * killed, paused or made to refuse. `SLUICE_FAULT_ROUNDS=20` kills each process 20 times, `SLUICE_FAULT_ROWS=Kafka` runs the faults with that word. Prints the fault table.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { freePorts, skipWithoutEngines, startEngines, type Engines } from '../engines.js';
import { startProgram, testFolder, until, workedOff, type Program } from '../program.js';
import { startHttpProxy, type HttpProxy } from './http-proxy.js';
import { reckon } from './reckoning.js';
import { createTcpProxy, type TcpProxy } from './tcp-proxy.js';
import { startTraffic } from './traffic.js';

const rounds = Number(process.env['SLUICE_FAULT_ROUNDS'] ?? 2);
const pauseMs = Number(process.env['SLUICE_FAULT_PAUSE_MS'] ?? 5_000);
/** Only faults whose name holds this text. */
const chosen = process.env['SLUICE_FAULT_ROWS'] ?? '';
const rate = 1_500;

interface World {
  readonly engines: Engines;
  readonly proxy: HttpProxy;
  readonly kafkaProxy: TcpProxy;
  receiver: Program;
  processor: Program;
  restartReceiver(): Promise<void>;
  restartProcessor(): Promise<void>;
}

/** Each fault leaves everything running again. */
const faults: readonly { readonly name: string; readonly act: (world: World) => Promise<void> }[] = [
  { name: `processor kill -9, ${rounds} times`, act: (world) => repeat(async () => {
    await world.processor.end('SIGKILL');
    await world.restartProcessor();
  }) },
  { name: `receiver kill -9, ${rounds} times`, act: (world) => repeat(async () => {
    await world.receiver.end('SIGKILL');
    await world.restartReceiver();
  }) },
  { name: 'OpenSearch kill -9 and start', act: async ({ engines }) => {
    await engines.kill('opensearch');
    await wait(pauseMs);
    await engines.start('opensearch');
  } },
  { name: 'OpenSearch paused', act: async ({ engines }) => {
    await engines.pause('opensearch');
    await wait(pauseMs);
    await engines.resume('opensearch');
  } },
  { name: 'OpenSearch answers 429', act: async ({ proxy }) => {
    proxy.inject({ fault: { kind: 'status', status: 429 } });
    await wait(pauseMs / 2);
    await proxy.heal();
    proxy.inject({ fault: { kind: 'item_429', every: 3 } });
    await wait(pauseMs / 2);
    await proxy.heal();
  } },
  { name: 'bulks time out, are applied late', act: async (world) => {
    world.proxy.inject({ fault: { kind: 'late', afterMs: pauseMs } });
    await wait(1_000);
    await world.processor.end('SIGKILL');
    await world.proxy.heal();
    await world.restartProcessor();
    await world.processor.control.request('POST', '/rotate', { index_set: 'sluice_default' });
    await world.proxy.lateAnswers();
  } },
  { name: 'acknowledgements of bulks cut', act: async ({ proxy }) => {
    proxy.inject({ fault: { kind: 'cut' }, times: 10 });
    await wait(pauseMs);
    await proxy.heal();
  } },
  { name: '50 acknowledgements of appends cut', act: async ({ kafkaProxy }) => {
    const before = kafkaProxy.cutAcknowledgements;
    kafkaProxy.cutAcknowledgementsOf(50, 5);
    await until(() => (kafkaProxy.cutAcknowledgements - before >= 50 ? true : undefined), 60_000, () => `only ${kafkaProxy.cutAcknowledgements - before} acknowledgements were cut`);
  } },
  { name: 'Kafka paused', act: async ({ engines }) => {
    await engines.pause('kafka');
    await wait(pauseMs);
    await engines.resume('kafka');
  } },
  { name: 'Kafka kill -9 and start', act: async ({ engines }) => {
    await engines.kill('kafka');
    await wait(pauseMs);
    await engines.start('kafka');
  } },
];

async function repeat(action: () => Promise<void>): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    await wait(500 + Math.random() * 1_500);
    await action();
  }
}

function writeRules(folder: string, version: number): void {
  mkdirSync(join(folder, 'sluice.d'), { recursive: true });
  writeFileSync(join(folder, 'sluice.d', '50-test.yaml'), `
index_sets:
  - { id: sluice_default, title: Default, rotation: { type: count, max_documents: 10000 }, retention: { type: none } }
rules:
  - id: version
    when: { always: true }
    then: [{ set: { field: rules_version, value: ${version} } }]
`);
}

t.test('faults on Kafka and OpenSearch lose and double nothing', { ...skipWithoutEngines(), timeout: 300_000 + rounds * 60_000 }, async (t) => {
  const folder = testFolder(t);
  const kafkaPort = await freePorts(2);
  const kafkaProxy = await createTcpProxy({ host: '127.0.0.1', port: kafkaPort });
  t.teardown(() => kafkaProxy.close());
  const engines = await startEngines({ home: join(folder, 'engines'), kafkaPort, environment: { KAFKA_ADVERTISED_PORT: String(kafkaProxy.port) } });
  t.teardown(() => engines.stop());
  const proxy = await startHttpProxy(engines.opensearch);
  t.teardown(() => proxy.close());
  const port = await freePorts(1);
  const settings = {
    receivers: [{ type: 'gelf_tcp', host: '127.0.0.1', port }],
    topics: { kind: 'kafka', kafka: { brokers: [`127.0.0.1:${kafkaProxy.port}`], request_timeout_ms: 20_000 } },
    store: { kind: 'opensearch', opensearch: { nodes: [proxy.url], request_timeout_ms: 20_000 } },
    processing: { rotation_check_ms: 1_000 },
  };
  writeRules(folder, 0);
  const start = (role: 'receiver' | 'processor') => startProgram(t, { folder, settings, role });
  const processor = await start('processor');
  const receiver = await start('receiver');
  const world: World = {
    engines, proxy, kafkaProxy, receiver, processor,
    restartReceiver: async () => { world.receiver = await start('receiver'); },
    restartProcessor: async () => { world.processor = await start('processor'); },
  };
  const traffic = startTraffic({ port: () => port, connections: 4, rate });
  const rows: string[] = [];
  let version = 0;
  for (const { name, act } of faults.filter(({ name }) => name.includes(chosen))) {
    writeRules(folder, version += 1);
    await wait(1_000);
    await act(world);
    const answered = Date.now();
    const seconds = await until(async () => {
      const lag = await world.processor.status().then((status) => status.lag, () => undefined);
      return lag !== undefined && lag < rate ? (Date.now() - answered) / 1000 : undefined;
    }, 90_000, () => `no full speed after ${name}\n${world.processor.output().slice(-3000)}\n${world.receiver.output().slice(-3000)}`);
    rows.push(`${name.padEnd(34)} full speed again after ${seconds.toFixed(1).padStart(5)} s`);
    t.ok(seconds < 60, `${name}: full speed again`);
  }
  const sent = await traffic.stop();
  await workedOff(world.processor, 120_000);
  await world.processor.control.request('POST', '/refresh', {});
  const result = await reckon(world.processor);
  for (const row of rows) t.comment(row);
  t.comment(`sent ${sent}, accepted ${result.accepted}, resent ${result.resent}, stored ${result.stored}, missing ${result.missing.length}, doubled ${result.doubled.length}`);
  t.ok(result.accepted > 5_000, 'there was load');
  t.same({ missing: result.missing, doubled: result.doubled, outOfOrder: result.outOfOrder }, { missing: [], doubled: [], outOfOrder: 0 });
});
