/**
 * Outputs: topic to wire, one core: `node build/bench/outputs.js [messages] [rounds]`. The destination is a process of
 * its own that takes everything.
 */
import { fork } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../program/settings.js';
import { silentLog } from '../core/log.js';
import { Registry } from '../core/metrics.js';
import { createRun, idPrefix, mintId } from '../core/message-ids.js';
import { outputTransports } from '../program/output-transports.js';
import { Outputs } from '../pipeline/forwarding/outputs.js';
import { createEmbeddedTopicLog } from '../topics/embedded.js';
import { createDecoder } from '../gelf/decoder.js';
import { compileRules } from '../rules/compile/compile.js';

const messageBytes = 420;

/** Takes everything on one TCP and one UDP port, and tells the numbers. */
function destination(): void {
  const server = createServer((socket) => socket.resume().on('error', () => undefined));
  const udp = createSocket({ type: 'udp4', recvBufferSize: 4 * 2 ** 20 });
  udp.on('message', () => undefined);
  server.listen(0, '127.0.0.1', () =>
    udp.bind(0, '127.0.0.1', () =>
      process.send?.({ tcp: (server.address() as AddressInfo).port, udp: udp.address().port }),
    ),
  );
}

function message(number: number): Buffer {
  const head = `{"version":"1.1","host":"web-${number % 50}","short_message":"GET /cart/${number} 200","timestamp":${1_700_000_000 + number / 1000},"level":6,"_n":${number},"_container_name":"shop","_fill":"`;
  return Buffer.from(`${head}${'x'.repeat(messageBytes - head.length - 2)}"}`);
}

/** Before it is measured, each case is run with so many, so that compiling is not counted. */
const warmUpMessages = 20_000;
/** Time limit of one run; even a busy machine needs a tenth of it. */
const deadlineMs = 60_000;

interface Case {
  readonly name: string;
  readonly outputs: number;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Messages a second and core. */
  readonly wanted: number | undefined;
}

interface Measured {
  readonly rate: number;
  readonly cpuMicroseconds: number;
}

const cases: readonly Case[] = [
  { name: 'GELF TCP', outputs: 1, settings: { type: 'gelf' }, wanted: 150_000 },
  { name: 'SYSLOG TCP', outputs: 1, settings: { type: 'syslog' }, wanted: 100_000 },
  {
    name: 'GELF UDP, uncompressed',
    outputs: 1,
    settings: { type: 'gelf', protocol: 'udp', gelf: { compression: 'none' } },
    wanted: 80_000,
  },
  { name: 'GELF TCP, 20 outputs of one stream', outputs: 20, settings: { type: 'gelf' }, wanted: undefined },
];

async function measure(
  { name, outputs, settings }: Case,
  ports: { tcp: number; udp: number },
  messages: number,
): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const registry = new Registry();
  const { config } = loadConfig({ folder, environment: {} });
  const topics = createEmbeddedTopicLog({
    folder: join(folder, 'topics'),
    segmentBytes: 64 * 2 ** 20,
    reserveBytes: 0,
    log: silentLog,
    registry,
  });
  await topics.start();
  const ids = Array.from({ length: outputs }, (_, at) => `o${at}`);
  const port = settings['protocol'] === 'udp' ? ports.udp : ports.tcp;
  const compiled = compileRules({
    files: [
      {
        name: 'bench.yaml',
        text: JSON.stringify({
          outputs: ids.map((id) => ({ id, host: '127.0.0.1', port, streams: ['all-messages'], ...settings })),
        }),
      },
    ],
  });
  if ('problems' in compiled) throw new Error(JSON.stringify(compiled.problems));
  const each = Math.ceil(messages / outputs);
  const prefix = idPrefix(createRun(Date.now()), 0);
  const work = new Outputs({
    config,
    topics,
    decoder: createDecoder(),
    rules: { load: async () => compiled.ruleSet, subscribe: () => () => undefined },
    transportOf: outputTransports({ listeners: () => [], files: { folder: config.rules.folder, environment: {} } }),
    timestampOf: (name) => config.receivers.find((receiver) => receiver.name === name)?.timestamp ?? 'sender',
    registry,
    log: silentLog,
  });
  for (const id of ids) {
    await topics.ensureTopics([
      {
        name: `sluice.output.${id}`,
        partitions: 1,
        retentionBytes: undefined,
        retentionMs: undefined,
        maxMessageBytes: 2 ** 20,
      },
    ]);
    for (let from = 0; from < each; from += 5_000) {
      await topics.append(
        `sluice.output.${id}`,
        0,
        Array.from({ length: Math.min(5_000, each - from) }, (_, at) => ({
          key: mintId(prefix, from + at),
          value: message(from + at),
          timestamp: Date.now(),
          origin: 'bench 127.0.0.1:1',
        })),
      );
    }
  }
  const cpu = process.cpuUsage();
  const begun = performance.now();
  await work.start();
  for (;;) {
    const states = await work.status();
    // The last are confirmed only later; handed to the system is what counts here.
    if (states.every(({ lag, unconfirmedMessages }) => lag <= unconfirmedMessages)) break;
    if (performance.now() - begun > deadlineMs) throw new Error(`${name}: not sent within ${deadlineMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  await work.stop(3_000);
  await topics.stop(1_000);
  rmSync(folder, { recursive: true, force: true });
  const total = each * outputs;
  return { rate: total / seconds, cpuMicroseconds: (user + system) / total };
}

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');

/** The round that took the least CPU: what else the machine does only ever adds to it. */
async function report(
  one: Case,
  ports: { tcp: number; udp: number },
  messages: number,
  rounds: number,
): Promise<string> {
  await measure(one, ports, warmUpMessages);
  const measured: Measured[] = [];
  for (let round = 0; round < rounds; round += 1) measured.push(await measure(one, ports, messages));
  const { rate, cpuMicroseconds } = measured.sort(
    (left, right) => left.cpuMicroseconds - right.cpuMicroseconds,
  )[0] as Measured;
  const wanted = one.wanted === undefined ? '' : ` (wanted ${whole(one.wanted)})`;
  return `${one.name.padEnd(36)} ${whole(rate)} messages/s, ${cpuMicroseconds.toFixed(1)} us of CPU a message: ${whole(1e6 / cpuMicroseconds)} a core${wanted}\n`;
}

if (process.argv[2] === 'destination') destination();
else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const messages = Number(process.argv[2] ?? 150_000);
  const rounds = Number(process.argv[3] ?? 3);
  const child = fork(fileURLToPath(import.meta.url), ['destination']);
  const ports = await new Promise<{ tcp: number; udp: number }>((resolve) =>
    child.once('message', (value) => resolve(value as { tcp: number; udp: number })),
  );
  try {
    for (const one of cases) process.stdout.write(await report(one, ports, messages, rounds));
  } finally {
    child.kill();
  }
}
