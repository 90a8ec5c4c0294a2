/**
 * How far from its size limit an index is when it is rotated at full rate, the whole program on embedded topics:
 * `node build/bench/rotation.js [messages] [limit in bytes] [embedded|opensearch|words]`, the latter but one with
 * SLUICE_TEST_OPENSEARCH. Messages of about 1 kB of random text, which hardly gets smaller. `words`: the embedded store
 * with its index of words, which comes behind the writes and is waited for. Words of random text take more room than
 * the text.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { stringify } from 'yaml';
import { openSearchNode } from '../test/engines.js';
import { createControlClient, type ControlClient } from '../api/control/client.js';
import { controlSocketPath } from '../api/control/socket-path.js';

const messages = Number(process.argv[2] ?? 3_500_000);
const limit = Number(process.argv[3] ?? 1e9);
const store = process.argv[4] ?? 'embedded';
const blockMessages = 200;
const checkMs = 500;
/** The words of the last messages come after a minute without a write. */
const restMs = store === 'words' ? 75_000 : 5_000;

interface Status {
  readonly lag: number;
  readonly receivers: readonly { readonly port: number }[];
  readonly index_sets: readonly {
    readonly id: string;
    readonly indices: readonly { readonly name: string; readonly documents: number; readonly bytes: number }[];
  }[];
}

interface LogLine {
  readonly msg?: string;
  readonly from?: string;
  readonly bytes?: number;
  readonly documents?: number;
}

function writeSettings(folder: string): string {
  const file = join(folder, 'sluice.yaml');
  const rules = join(folder, 'rules');
  mkdirSync(rules);
  writeFileSync(
    join(rules, 'sets.yaml'),
    stringify({ index_sets: [{ id: 'sluice_default', rotation: { type: 'size', max_size: limit } }] }),
  );
  writeFileSync(
    file,
    stringify({
      data_folder: join(folder, 'data'),
      log_level: 'info',
      admin: { enabled: false },
      api: { enabled: false },
      receivers: [{ type: 'gelf_tcp', host: '127.0.0.1', port: 0 }],
      rules: { folder: rules },
      store:
        store === 'opensearch'
          ? {
              kind: 'opensearch',
              opensearch: { nodes: [openSearchNode()], state_index: `rotation-${randomBytes(4).toString('hex')}` },
            }
          : { kind: 'embedded', embedded: { index_words: store === 'words' } },
    }),
  );
  return file;
}

function message(): string {
  return `{"version":"1.1","host":"node-7","short_message":"${randomBytes(630).toString('base64')}","level":6,"_namespace":"shop","_pod":"pay-5d-x1"}\0`;
}

async function send(port: number): Promise<void> {
  const socket = createConnection({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  for (let sent = 0; sent < messages; sent += blockMessages) {
    if (!socket.write(Array.from({ length: blockMessages }, message).join(''))) await once(socket, 'drain');
  }
  socket.end();
  socket.resume();
  await once(socket, 'close');
}

const statusOf = async (control: ControlClient): Promise<Status> => (await control.request('GET', '/status')) as Status;
const share = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB, ${((bytes / limit - 1) * 100).toFixed(1)} %`;

/** The largest size each index was seen at. */
async function watchSizes(control: ControlClient, largest: Map<string, number>, ended: () => boolean): Promise<void> {
  while (!ended()) {
    const { index_sets: sets } = await statusOf(control);
    for (const { name, bytes } of sets.find(({ id }) => id === 'sluice_default')?.indices ?? [])
      largest.set(name, Math.max(bytes, largest.get(name) ?? 0));
    await wait(checkMs);
  }
}

async function run(folder: string): Promise<void> {
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SLUICE_')));
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, '..', 'cli.js'), 'start', '--config', writeSettings(folder)],
    { env: environment, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const rotated: LogLine[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      child.once('exit', () => reject(new Error('the program ended')));
      child.stderr.on('data', (text: Buffer) => {
        if (text.includes('is running')) resolve();
      });
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line.includes('"index rotated"')) rotated.push(JSON.parse(line) as LogLine);
      });
    });
    const control = createControlClient(controlSocketPath(join(folder, 'data'), process.env['XDG_RUNTIME_DIR']));
    const begun = Date.now();
    const largest = new Map<string, number>();
    let ended = false;
    const watching = watchSizes(control, largest, () => ended);
    await send((await statusOf(control)).receivers[0]?.port as number);
    while ((await statusOf(control)).lag > 0) await wait(checkMs);
    const seconds = (Date.now() - begun) / 1000;
    for (let [size, since] = [0, Date.now()]; Date.now() - since < restMs; await wait(checkMs)) {
      const now = [...largest.values()].reduce((sum, bytes) => sum + bytes, 0);
      if (now !== size) [size, since] = [now, Date.now()];
    }
    ended = true;
    await watching;
    const { index_sets: sets } = await statusOf(control);
    const after = sets.find(({ id }) => id === 'sluice_default')?.indices ?? [];
    process.stdout.write(
      `rotation at ${limit / 1e6} MB: ${messages} messages in ${seconds.toFixed(0)} s, ${Math.round(messages / seconds)} messages/s\n`,
    );
    for (const { from, bytes, documents } of rotated) {
      const then = after.find(({ name }) => name === from);
      process.stdout.write(
        `  ${from}: rotated at ${share(bytes ?? 0)} (${documents} documents), at most ${share(largest.get(from ?? '') ?? 0)}, in the end ${share(then?.bytes ?? 0)} (${then?.documents})\n`,
      );
    }
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  }
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
try {
  await run(folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
