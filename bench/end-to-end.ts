/**
 * GELF TCP to searchable, the whole program as one process:
 * `node build/bench/end-to-end.js [embedded|cluster] [messages]`. The cluster form needs SLUICE_TEST_KAFKA and
 * SLUICE_TEST_OPENSEARCH; sender and engines share the cores.
 */
import { spawn } from 'node:child_process';
import { readFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as wait } from 'node:timers/promises';
import { stringify } from 'yaml';
import { createControlClient, type ControlClient } from '../api/control/client.js';
import { controlSocketPath } from '../api/control/socket-path.js';
import type { SearchResult } from '../schemas/query.js';
import { kafkaBrokers, openSearchNode } from '../test/engines.js';

const commandLine = join(import.meta.dirname, '..', 'cli.js');
const sender = join(import.meta.dirname, 'send.js');

interface EndToEndResult {
  readonly kind: string;
  readonly messages: number;
  /** From the first byte sent to the last message found by a search. */
  readonly seconds: number;
  readonly perSecond: number;
  readonly microsecondsPerMessage: number;
  readonly peakMegabytes: number;
  readonly startMilliseconds: number;
}

async function benchEndToEnd(kind: 'embedded' | 'cluster', messages = 400_000): Promise<EndToEndResult> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const settingsFile = join(folder, 'sluice.yaml');
  writeFileSync(settingsFile, stringify(settingsOf(kind, folder)));
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SLUICE_')));
  const started = Date.now();
  const child = spawn(process.execPath, [commandLine, 'start', '--config', settingsFile], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    const control = createControlClient(controlSocketPath(join(folder, 'data'), environment['XDG_RUNTIME_DIR']));
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (text: Buffer) => {
        if (text.includes('is running')) resolve();
      });
      child.once('exit', () => reject(new Error('the program ended')));
    });
    const startMilliseconds = Date.now() - started;
    const { receivers } = (await control.request('GET', '/status')) as { receivers: readonly { port: number }[] };
    // A store shared with other runs has documents of the same kind already.
    const already = await found(control);
    const cpuBefore = cpuSeconds(child.pid as number);
    const begun = Date.now();
    const sending = spawn(process.execPath, [sender, 'tcp_4', String(receivers[0]?.port), String(messages)], {
      stdio: 'ignore',
    });
    await new Promise((resolve) => sending.once('exit', resolve));
    await untilSearchable(control, already + messages);
    const seconds = (Date.now() - begun) / 1000;
    const cpu = cpuSeconds(child.pid as number) - cpuBefore;
    return {
      kind,
      messages,
      seconds,
      perSecond: messages / seconds,
      microsecondsPerMessage: (cpu / messages) * 1e6,
      peakMegabytes: peakMegabytes(child.pid as number),
      startMilliseconds,
    };
  } finally {
    child.kill('SIGTERM');
    await new Promise((resolve) => {
      child.once('exit', resolve);
      if (child.exitCode !== null) resolve(undefined);
    });
    rmSync(folder, { recursive: true, force: true });
  }
}

function settingsOf(kind: 'embedded' | 'cluster', folder: string): unknown {
  const common = {
    data_folder: join(folder, 'data'),
    log_level: 'error',
    admin: { enabled: false },
    api: { enabled: false },
    receivers: [{ type: 'gelf_tcp', host: '127.0.0.1', port: 0 }],
  };
  if (kind === 'embedded') return common;
  const name = `bench-${randomBytes(4).toString('hex')}`;
  const brokers = kafkaBrokers();
  const node = openSearchNode();
  if (brokers === undefined || node === undefined) throw new Error('set SLUICE_TEST_KAFKA and SLUICE_TEST_OPENSEARCH');
  return {
    ...common,
    topics: { kind: 'kafka', prefix: `${name}.`, kafka: { brokers: brokers.split(',') } },
    store: { kind: 'opensearch', opensearch: { nodes: [node], state_index: `${name}-state` } },
    processing: { group: name },
  };
}

async function found(control: ControlClient): Promise<number> {
  return ((await control.request('POST', '/search', { query: 'payment', limit: 0 })) as SearchResult).total;
}

async function untilSearchable(control: ControlClient, messages: number): Promise<void> {
  let before = -1;
  for (let last = Date.now(); Date.now() - last < 60_000; ) {
    const { lag } = (await control.request('GET', '/status')) as { lag: number };
    if (lag === 0) await control.request('POST', '/refresh', {});
    const total = await found(control);
    if (total >= messages) return;
    if (total !== before) last = Date.now();
    before = total;
    await wait(lag === 0 ? 50 : 500);
  }
  throw new Error(`only ${before} of ${messages} messages are found`);
}

/** User and system time of all threads, from /proc; ticks of 10 ms. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function peakMegabytes(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const kind = process.argv[2] === 'cluster' ? 'cluster' : 'embedded';
  const result = await benchEndToEnd(kind, Number(process.argv[3] ?? 400_000));
  process.stdout.write(
    `${cpus().length} x ${cpus()[0]?.model ?? '?'}, Node.js ${process.version}, load ${loadavg()[0]?.toFixed(1)}\n` +
      `end to end, ${kind}: ${Math.round(result.perSecond)} messages/s (${result.messages} of 420 bytes in ${result.seconds.toFixed(1)} s), ` +
      `${result.microsecondsPerMessage.toFixed(1)} us of CPU a message, peak ${Math.round(result.peakMegabytes)} MiB, listening after ${result.startMilliseconds} ms\n`,
  );
}
