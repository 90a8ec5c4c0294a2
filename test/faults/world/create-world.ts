/** Builds a world: folders, settings, programs, senders, and what rows may do to them. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { until, type Program } from '../../program.js';
import { clockEnvironment, setClock } from '../causes/clock.js';
import { startHttpProxy } from '../causes/http-proxy.js';
import { createDestinations } from '../outputs/destinations.js';
import type { Host } from '../causes/network.js';
import type { EngineSet, OwnEngines } from './own-engines.js';
import { createPowerCut, type PowerCut } from '../causes/power-cut.js';
import { createProcess, merge } from './program-process.js';
import { createEmbeddedProgress, createKafkaProgress } from '../judging/progress.js';
import type { Random } from './random.js';
import { createReckoner } from '../judging/reckoning.js';
import { writeRuleFile } from './rule-files.js';
import { startTraffic, type Target } from './traffic.js';
import type { Process, World, WorldNeeds } from './world.js';

interface WorldOptions {
  readonly set: EngineSet;
  readonly own: OwnEngines | undefined;
  readonly needs: WorldNeeds;
  /** Exclusively this world's; removed at its end. */
  readonly folder: string;
  /** Unlike any other world's on the same engines. */
  readonly name: string;
  readonly rate: () => number;
  readonly rounds: number;
  readonly awayMs: number;
  readonly random: Random;
}

type Action = () => Promise<void> | void;

/** A start that nobody waits for is still under way. */
const answerPatienceMs = 60_000;
/** Lines of OpenSearch's own state that no world may leave to the next. */
const allIndices = '/_cat/indices?format=json&h=index&expand_wildcards=all';

export async function createWorld(options: WorldOptions): Promise<World> {
  const { set, own, needs, folder, name } = options;
  const shape = needs.shape ?? (set === 'embedded' ? 'one' : 'split');
  const actions: Action[] = [];
  const cleanup = {
    teardown: (action: Action): void => {
      actions.push(action);
    },
  };
  const close = async (): Promise<void> => {
    for (const action of actions.splice(0).reverse()) await action();
    if (own !== undefined) await deleteIndices(own);
    rmSync(folder, { recursive: true, force: true });
  };
  mkdirSync(folder, { recursive: true });
  const topicPrefix = `${name}.`;
  const clockFile = join(folder, 'clock');
  const environment = needs.clock === true ? clockEnvironment(clockFile) : {};
  const rulesFolder = join(folder, 'rules');
  const power = needs.powerCut === true ? startPowerCut(join(folder, 'all', 'data'), cleanup) : undefined;
  let version = 0;
  let connections = 0;

  const destinations = needs.outputs === undefined ? undefined : await createDestinations(needs.outputs, cleanup);
  const rules = {
    ...needs.rules,
    ...(destinations === undefined ? {} : { outputs: destinations.all.map(({ rule }) => rule) }),
  };

  const hostOf = async (part: string): Promise<Host | undefined> => own?.network?.host(`${name}-${part}`);
  const build = async (part: string, role: Process['role']): Promise<Process> => {
    const host = await hostOf(part);
    const proxy =
      own === undefined || role === 'receiver' || role === 'output'
        ? undefined
        : await startHttpProxy(own.engines.opensearch, own.network?.engines);
    if (proxy !== undefined) cleanup.teardown(() => proxy.close());
    const ownFolder = join(folder, part);
    mkdirSync(ownFolder, { recursive: true });
    const settings = merge(
      settingsOf({
        set,
        own,
        topicPrefix,
        rulesFolder,
        store: proxy?.url,
        receives: role === 'all' || role === 'receiver',
        listen: host === undefined ? '127.0.0.1' : '0.0.0.0',
      }),
      needs.settings ?? {},
    );
    return createProcess({
      name: part,
      role,
      folder: ownFolder,
      settings,
      proxy,
      host,
      environment: { ...environment, ...power?.environment },
      cleanup,
    });
  };

  try {
    writeRuleFile(rulesFolder, version, rules);
    const all = shape === 'one' ? await build('all', 'all') : undefined;
    const processors: [Process, ...Process[]] = [all ?? (await build('processor-1', 'processor'))];
    if (shape === 'pair') processors.push(await build('processor-2', 'processor'));
    const receiver = all ?? (await build('receiver', 'receiver'));
    const sending = destinations === undefined ? undefined : (all ?? (await build('output', 'output')));
    const dataFolder = join(receiver.folder, 'data');
    if (needs.diskBytes !== undefined) cleanup.teardown(mountDisk(dataFolder, needs.diskBytes));
    for (const program of new Set([...processors, receiver, ...(sending === undefined ? [] : [sending])]))
      await program.start();
    const { settingsFile } = receiver.program();
    const progress =
      own === undefined
        ? createEmbeddedProgress(settingsFile)
        : createKafkaProgress(own.brokers, topicPrefix, `${topicPrefix}processors`);
    cleanup.teardown(() => progress.close());
    const senders = own?.network?.senders;
    const ports = new Map<string, number>();
    /** The receiver listens on the same ports after each restart. */
    const target = (protocol: 'gelf-tcp' | 'gelf-http') => (): Target => {
      if (!ports.has(protocol)) ports.set(protocol, receiver.program().port(protocol));
      return {
        host: receiver.host?.address ?? '127.0.0.1',
        port: ports.get(protocol) as number,
        localAddress: senders,
      };
    };
    target('gelf-tcp')();
    target('gelf-http')();
    const listening = (['gelf_tcp', 'gelf_http'] as const).map((type) => ({
      type,
      host: receiver.host === undefined ? '127.0.0.1' : '0.0.0.0',
      port: ports.get(type.replace('_', '-')),
    }));
    receiver.change({ receivers: listening });
    const answering = (): Promise<Program> =>
      until(
        () => processors.find(({ running, paused }) => running && !paused)?.program(),
        answerPatienceMs,
        () => 'no processor runs',
      );
    const ask = async (path: string, body: unknown): Promise<void> => {
      await (await answering()).control.request('POST', path, body);
    };
    return {
      set,
      folder,
      dataFolder,
      own,
      receiver,
      processors,
      topicPrefix,
      group: `${topicPrefix}processors`,
      stateIndex: `${name}-state`,
      random: options.random,
      rounds: options.rounds,
      awayMs: options.awayMs,
      reckoner: createReckoner(settingsFile),
      get rate() {
        return options.rate();
      },
      get http() {
        return present(processors[0].proxy, 'OpenSearch');
      },
      get kafka() {
        return present(own?.kafkaProxy, 'a proxy before Kafka');
      },
      get engines() {
        return present(own, 'engines').engines;
      },
      progress: () => progress.read(),
      get destinations() {
        return present(destinations, 'outputs');
      },
      get outputProcess() {
        return present(sending, 'outputs');
      },
      outputsLag: () => outputsLag(present(sending, 'outputs'), destinations?.all.length ?? 0),
      startTraffic: () =>
        startTraffic({
          tcp: target('gelf-tcp'),
          http: target('gelf-http'),
          connections: 4,
          rate: options.rate(),
          ...(needs.padding === undefined ? {} : { padding: needs.padding }),
          nextConnection: () => (connections += 1),
        }),
      writeRules: (choice) => writeRuleFile(rulesFolder, (version += 1), { ...rules, ...choice }),
      rotate: (indexSet = 'sluice_default') => ask('/rotate', { index_set: indexSet }),
      retire: () => ask('/retention', {}),
      openSearch: (method, path, body) => askOpenSearch(present(own, 'OpenSearch'), method, path, body),
      listens: (does) => receiver.change({ receivers: does ? listening : [] }),
      moveClock: (seconds) => setClock(clockFile, seconds),
      fillDisk: () => fill(join(dataFolder, 'filler')),
      emptyDisk: () => rmSync(join(dataFolder, 'filler'), { force: true }),
      get power() {
        return present(power, 'power to cut');
      },
      answering,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** As the program itself tells; every output must be among them. */
async function outputsLag(program: Process, count: number): Promise<number> {
  const { outputs = [] } = (await program.program().control.request('GET', '/status')) as {
    outputs?: readonly { lag: number }[];
  };
  if (outputs.length < count) throw new Error(`${outputs.length} of ${count} outputs run`);
  return Math.max(...outputs.map(({ lag }) => lag));
}

interface SettingsInput {
  readonly set: EngineSet;
  readonly own: OwnEngines | undefined;
  readonly topicPrefix: string;
  readonly rulesFolder: string;
  readonly store: string | undefined;
  readonly receives: boolean;
  readonly listen: string;
}

function settingsOf({
  own,
  topicPrefix,
  rulesFolder,
  store,
  receives,
  listen,
}: SettingsInput): Readonly<Record<string, unknown>> {
  const common = {
    receivers: receives
      ? [
          { type: 'gelf_tcp', host: listen, port: 0 },
          { type: 'gelf_http', host: listen, port: 0 },
        ]
      : [],
    processing: { rotation_check_ms: 500, group: `${topicPrefix}processors` },
    rules: { folder: rulesFolder },
  };
  if (own === undefined) return { ...common, topics: { kind: 'embedded', prefix: topicPrefix } };
  return {
    ...common,
    topics: { kind: 'kafka', prefix: topicPrefix, kafka: { brokers: own.brokers } },
    store: {
      kind: 'opensearch',
      opensearch: {
        nodes: [store ?? own.engines.opensearch],
        request_timeout_ms: 20_000,
        state_index: `${topicPrefix.slice(0, -1)}-state`,
      },
    },
  };
}

function present<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Error(`this world has no ${what}`);
  return value;
}

async function askOpenSearch(own: OwnEngines, method: string, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(own.engines.opensearch + path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  if (!response.ok && response.status !== 404)
    throw new Error(
      `OpenSearch answers ${response.status} to ${method} ${path}: ${(await response.text()).slice(0, 500)}`,
    );
  return response.json();
}

/** The engine belongs to the fault table alone, so everything in it goes. */
async function deleteIndices(own: OwnEngines): Promise<void> {
  const indices = (await askOpenSearch(own, 'GET', allIndices, undefined)) as { index: string }[];
  for (const { index } of indices) await askOpenSearch(own, 'DELETE', `/${index}`, undefined);
}

function startPowerCut(dataFolder: string, cleanup: { teardown(action: Action): void }): PowerCut {
  mkdirSync(dataFolder, { recursive: true });
  const power = createPowerCut(dataFolder);
  cleanup.teardown(() => power.close());
  power.begin();
  return power;
}

function mountDisk(folder: string, bytes: number): () => void {
  mkdirSync(folder, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'sluice-faults', folder]);
  return () => {
    execFileSync('umount', ['-l', folder]);
  };
}

/** Why there can be no file system of the test's own; undefined when there can be one. */
export function missingForDisk(): string | undefined {
  return process.getuid?.() === 0 && readFileSync('/proc/filesystems', 'utf8').includes('tmpfs')
    ? undefined
    : 'root, to mount a small file system';
}

function fill(file: string): void {
  const descriptor = openSync(file, 'a');
  for (let chunk = 1024 * 1024; chunk >= 512; ) {
    try {
      writeSync(descriptor, Buffer.alloc(chunk));
    } catch {
      chunk /= 2;
    }
  }
  closeSync(descriptor);
}
