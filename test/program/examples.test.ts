/** The example settings files run as they are; only ports and addresses of this machine are laid over them. */
import { randomBytes } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import t from 'tap';
import { createControlClient } from '../../api/control/client.js';
import { controlSocketPath } from '../../api/control/socket-path.js';
import { packageRoot } from '../../core/process/package-root.js';
import type { SearchResult } from '../../schemas/query.js';
import { kafkaBrokers, openSearchNode } from '../engines.js';
import {
  cleanEnvironment,
  commandLine,
  node,
  receiversOnFreePorts,
  testFolder,
  until,
  type Status,
} from '../program.js';

interface Test {
  teardown(action: () => Promise<void> | void): void;
  equal(found: unknown, wanted: unknown): boolean;
}

async function runExample(t: Test, name: string, environment: NodeJS.ProcessEnv): Promise<void> {
  const word = `example${randomBytes(4).toString('hex')}`;
  const folder = testFolder(t);
  copyFileSync(join(packageRoot, 'examples', name), join(folder, name));
  const [command, ...leading] = node;
  const child = spawn(command, [...leading, commandLine, 'start', '--config', join(folder, name)], {
    env: {
      ...cleanEnvironment(),
      SLUICE_RECEIVERS: JSON.stringify(receiversOnFreePorts),
      SLUICE_ADMIN__PORT: '0',
      SLUICE_API__PORT: '0',
      SLUICE_DATA_FOLDER: join(folder, 'data'),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (text) => {
    output += String(text);
  });
  child.stderr.on('data', (text) => {
    output += String(text);
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await until(
    () => {
      if (child.exitCode !== null) throw new Error(output);
      return output.includes('is running') ? true : undefined;
    },
    60_000,
    () => output,
  );
  const control = createControlClient(controlSocketPath(join(folder, 'data'), process.env['XDG_RUNTIME_DIR']));
  const { receivers } = (await control.request('GET', '/status')) as Status;
  const port = receivers.find(({ protocol }) => protocol === 'gelf-http')?.port;
  t.equal(
    (await fetch(`http://127.0.0.1:${port}/gelf`, { method: 'POST', body: `{"host":"h","short_message":"${word}"}` }))
      .status,
    202,
  );
  const total = await until(
    async () => {
      await control.request('POST', '/refresh', {});
      const { total } = (await control.request('POST', '/search', { query: word })) as SearchResult;
      return total > 0 ? total : undefined;
    },
    30_000,
    () => output,
  );
  t.equal(total, 1);
  child.kill('SIGTERM');
  t.equal(await ended, 0);
}

t.test('examples/sluice.yaml runs', (t) => runExample(t, 'sluice.yaml', {}));

const missing = kafkaBrokers() === undefined || openSearchNode() === undefined;
t.test(
  'examples/sluice-kafka-opensearch.yaml runs',
  {
    skip: missing
      ? 'needs Kafka and OpenSearch: set SLUICE_TEST_KAFKA and SLUICE_TEST_OPENSEARCH, or run npm test where Java 21 and Maven are'
      : false,
  },
  (t) => {
    const name = `example-${randomBytes(4).toString('hex')}`;
    return runExample(t, 'sluice-kafka-opensearch.yaml', {
      SLUICE_TOPICS__KAFKA__BROKERS: JSON.stringify([kafkaBrokers()]),
      SLUICE_TOPICS__PREFIX: `${name}.`,
      SLUICE_PROCESSING__GROUP: name,
      SLUICE_STORE__OPENSEARCH__NODES: JSON.stringify([openSearchNode()]),
      SLUICE_STORE__OPENSEARCH__STATE_INDEX: `${name}-state`,
    });
  },
);
