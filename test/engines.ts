/** Finds and starts the real engines (Kafka, OpenSearch) that tests run against. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packageRoot } from '../core/process/package-root.js';

const script = join(packageRoot, 'test/engines/engines');
const run = promisify(execFile);
/** The first start fetches the jars. */
const startPatienceMs = 300_000;

/** host:port of a running Kafka, when there is one. */
export function kafkaBrokers(): string | undefined {
  return process.env['SLUICE_TEST_KAFKA'] || undefined;
}

/** Address of a running OpenSearch, when there is one. */
export function openSearchNode(): string | undefined {
  return process.env['SLUICE_TEST_OPENSEARCH'] || undefined;
}

/** For tap's options: `t.test(title, skipWithoutKafka(), ...)`. */
export function skipWithoutKafka(): { skip: string | false } {
  return {
    skip:
      kafkaBrokers() === undefined
        ? 'needs Kafka: set SLUICE_TEST_KAFKA, or run npm test where Java 21 and Maven are'
        : false,
  };
}

export function skipWithoutOpenSearch(): { skip: string | false } {
  return {
    skip:
      openSearchNode() === undefined
        ? 'needs OpenSearch: set SLUICE_TEST_OPENSEARCH, or run npm test where Java 21 and Maven are'
        : false,
  };
}

/** For tests that start engines of their own. */
export function skipWithoutEngines(): { skip: string | false } {
  const reason = missingForEngines();
  return { skip: reason === undefined ? false : `needs engines of its own: ${reason}` };
}

/** A Java of version 21 or later, as the engine script finds it. */
function findJava(): string | undefined {
  const installed = existsSync('/usr/lib/jvm')
    ? readdirSync('/usr/lib/jvm').map((name) => join('/usr/lib/jvm', name, 'bin/java'))
    : [];
  const home = process.env['JAVA_HOME'];
  const candidates = [
    process.env['ENGINES_JAVA'],
    home === undefined ? undefined : join(home, 'bin/java'),
    'java',
    ...installed,
  ];
  return candidates.find((candidate) => candidate !== undefined && candidate !== '' && javaMajor(candidate) >= 21);
}

function javaMajor(java: string): number {
  try {
    return Number(
      /version "(\d+)/.exec(execFileSync('sh', ['-c', '"$0" -version 2>&1', java], { encoding: 'utf8' }))?.[1] ?? 0,
    );
  } catch {
    return 0;
  }
}

function jarsFolder(): string {
  return (
    process.env['ENGINES_JARS'] ??
    join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'sluice-engines', 'jars')
  );
}

let missing: { readonly reason: string | undefined } | undefined;

/** Why engines cannot be started here; undefined when they can. */
export function missingForEngines(): string | undefined {
  missing ??= { reason: findMissing() };
  return missing.reason;
}

function findMissing(): string | undefined {
  if (findJava() === undefined) return 'no Java 21 or later';
  const complete = ['kafka', 'opensearch'].every((engine) => existsSync(join(jarsFolder(), engine, '.complete')));
  if (complete) return undefined;
  try {
    execFileSync('mvn', ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'no Maven (mvn) to fetch the engines';
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** The first port of a run of free ones, below the range that the system hands out itself. */
export async function freePorts(count: number): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const first = 20_000 + Math.floor(Math.random() * 11_000);
    const checks = await Promise.all(Array.from({ length: count }, (_, index) => isFree(first + index)));
    if (checks.every(Boolean)) return first;
  }
  throw new Error(`no ${count} free ports in a row`);
}

type Engine = 'kafka' | 'opensearch' | 'kafka-1' | 'kafka-2' | 'kafka-3';

interface EngineOptions {
  /** Folder for data and logs, exclusively theirs. */
  readonly home: string;
  /** Which to start. Both when not named. */
  readonly engines?: readonly ('kafka' | 'opensearch')[];
  /** Chosen among free ones when not named. */
  readonly kafkaPort?: number;
  readonly opensearchPort?: number;
  /** 1, or 3 for a replicated cluster. */
  readonly brokers?: 1 | 3;
  /** For example `OPENSEARCH_SETTINGS`, `KAFKA_HEAP`. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Engines {
  /** host:port of every broker. */
  readonly kafka: readonly string[];
  readonly opensearch: string;
  /** Starts what does not run and waits until it answers. */
  start(engine?: Engine): Promise<void>;
  /** SIGTERM, and waits. All when none is named. */
  stop(engine?: Engine): Promise<void>;
  /** SIGKILL, and waits until the process is gone; its data stays. */
  kill(engine: Engine): Promise<void>;
  /** SIGSTOP: a hung engine that still holds its connections. */
  pause(engine: Engine): Promise<void>;
  resume(engine: Engine): Promise<void>;
}

/** Starts engines that belong to the caller, who stops them. */
export async function startEngines(options: EngineOptions): Promise<Engines> {
  const brokers = options.brokers ?? 1;
  const kafkaPort = options.kafkaPort ?? (await freePorts(brokers === 1 ? 2 : 22));
  const opensearchPort = options.opensearchPort ?? (await freePorts(2));
  const env = {
    ...process.env,
    ENGINES_HOME: options.home,
    ENGINES_JARS: jarsFolder(),
    KAFKA_PORT: String(kafkaPort),
    KAFKA_BROKERS: String(brokers),
    OPENSEARCH_PORT: String(opensearchPort),
    OPENSEARCH_TRANSPORT_PORT: String(opensearchPort + 1),
    ...options.environment,
  };
  const verb = async (name: string, engines: readonly string[]): Promise<void> => {
    await run(script, [name, ...engines], { env, timeout: startPatienceMs });
  };
  const chosen = options.engines ?? ['kafka', 'opensearch'];
  // A test that crashes must not leave them running.
  process.once('exit', () => {
    if (existsSync(options.home)) execFileSync(script, ['kill'], { env, stdio: 'ignore' });
  });
  await verb('start', chosen);
  const family = (engine: Engine): string => (engine === 'opensearch' ? engine : 'kafka');
  return {
    kafka: Array.from({ length: brokers }, (_, index) => `127.0.0.1:${kafkaPort + index * 10}`),
    opensearch: `http://127.0.0.1:${opensearchPort}`,
    start: (engine) => verb('start', engine === undefined ? chosen : [family(engine)]),
    stop: (engine) => verb('stop', engine === undefined ? chosen : [engine]),
    kill: (engine) => verb('kill', [engine]),
    pause: (engine) => verb('pause', [engine]),
    resume: (engine) => verb('resume', [engine]),
  };
}
