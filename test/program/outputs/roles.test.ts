import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { stringify } from 'yaml';
import { skipWithoutEngines } from '../../engines.js';
import { cleanEnvironment, commandLine, node, until } from '../../program.js';
import { createStreamDestination } from '../../sinks/outputs/receivers.js';
import { createCluster } from '../cluster.js';
import { numberedMessages, numbersOf, outputsOf, send } from './with-outputs.js';

t.setTimeout(180_000);

t.test(
  'roles of their own on Kafka: a processor forwards, a process with the role output sends, another takes over',
  { ...skipWithoutEngines(), timeout: 180_000 },
  async (t) => {
    const destination = await createStreamDestination(t);
    const cluster = await createCluster(t);
    writeFileSync(
      join(cluster.folder, 'rules', 'outputs.yaml'),
      stringify({
        outputs: [
          { id: 'archive', type: 'gelf', host: '127.0.0.1', port: destination.port, streams: ['all-messages'] },
        ],
      }),
    );
    const [receiver, processor, sender] = await Promise.all([
      cluster.start('receiver', 'receiver'),
      cluster.start('processor', 'processor'),
      cluster.start('sender', 'output'),
    ]);
    const messages = numberedMessages(4_000);
    await send(receiver, messages.slice(0, 2_000));
    const numbers = (): number[] => numbersOf(destination.frames(0)).sort((left, right) => left - right);
    const arrived = (count: number) =>
      until(
        () => (numbers().length >= count ? true : undefined),
        90_000,
        () => `${numbers().length} of ${count}\n${sender.output().slice(-2_000)}\n${processor.output().slice(-2_000)}`,
      );
    await arrived(2_000);
    await until(
      async () => ((await outputsOf(sender))[0]?.lag === 0 ? true : undefined),
      60_000,
      () => 'not confirmed',
    );
    t.match(await outputsOf(sender), [{ id: 'archive', state: 'connected' }]);
    const [command, ...leading] = node;
    const { stdout } = await promisify(execFile)(
      command,
      [...leading, commandLine, 'status', '--role', 'output', '--config', sender.settingsFile],
      { env: cleanEnvironment() },
    );
    t.match(stdout, /archive +connected/, 'the command line finds the process that only sends');
    await sender.end('SIGKILL');
    await send(receiver, messages.slice(2_000));
    await cluster.start('other-sender', 'output');
    await arrived(4_000);
    t.same(
      numbers(),
      Array.from({ length: 4_000 }, (_, number) => number),
    );
  },
);
