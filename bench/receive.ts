/**
 * Messages a second that the receivers take, check and hand over; the sender is a process of its own.
 * `node build/bench/receive.js [kind...]`.
 */
import { execFile } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Value } from 'typebox/value';
import { silentLog } from '../core/log.js';
import { Registry } from '../core/metrics.js';
import { createDecoder } from '../gelf/decoder.js';
import { createInflater } from '../receivers/inflate/inflater.js';
import { readKernelDrops } from '../receivers/listen/kernel-drops.js';
import { createReceivers } from '../program/receivers.js';
import { receiverKinds } from '../receivers/registry.js';
import type { ReceiverOptions } from '../schemas/config/receivers.js';
import type { MessageSink } from '../schemas/messages.js';

interface ReceiveBenchOptions {
  /** Keys of the cases below; all when absent. */
  readonly kinds?: readonly string[];
  /** Messages of a TCP case at full speed; UDP cases send fewer, in proportion to their rate. */
  readonly messages?: number;
  readonly print?: (line: string) => void;
}

interface ReceiveBenchResult {
  readonly kind: string;
  readonly sent: number;
  readonly received: number;
  readonly refused: number;
  readonly kernelDrops: number;
  readonly perSecond: number;
  readonly cpuMicrosPerMessage: number;
  readonly peakRssBytes: number;
}

/** UDP is offered at a rate, since a sender that outruns the receiver only measures the kernel's drops. */
const cases: Readonly<
  Record<
    string,
    {
      readonly type: 'gelf_tcp' | 'gelf_udp';
      readonly framing?: 'newline';
      readonly rate: number;
      readonly share: number;
    }
  >
> = {
  tcp: { type: 'gelf_tcp', rate: 0, share: 1 },
  tcp_gzip: { type: 'gelf_tcp', framing: 'newline', rate: 0, share: 0.3 },
  udp: { type: 'gelf_udp', rate: 120_000, share: 0.3 },
  udp_gzip: { type: 'gelf_udp', rate: 90_000, share: 0.25 },
  udp_chunked: { type: 'gelf_udp', rate: 30_000, share: 0.1 },
};

async function benchReceive(options: ReceiveBenchOptions = {}): Promise<readonly ReceiveBenchResult[]> {
  const print =
    options.print ??
    ((line: string) => {
      process.stdout.write(`${line}\n`);
    });
  print(
    `receive: ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}, Node.js ${process.version}, load ${loadavg()[0]?.toFixed(2)}, ${createInflater().name}, 420-byte messages`,
  );
  const results: ReceiveBenchResult[] = [];
  for (const kind of options.kinds ?? Object.keys(cases)) {
    const result = await runCase(kind, options.messages ?? 1_000_000);
    results.push(result);
    print(
      `  ${kind.padEnd(12)} ${String(Math.round(result.perSecond)).padStart(8)} msg/s  ${result.cpuMicrosPerMessage.toFixed(2).padStart(6)} us CPU/msg  ` +
        `${Math.round(1e6 / result.cpuMicrosPerMessage)} msg/s on one core  sent ${result.sent} received ${result.received} refused ${result.refused} kernel drops ${result.kernelDrops}  ` +
        `peak RSS ${Math.round(result.peakRssBytes / 2 ** 20)} MiB`,
    );
  }
  return results;
}

async function runCase(kind: string, messages: number): Promise<ReceiveBenchResult> {
  const setup = cases[kind];
  if (setup === undefined) throw new RangeError(`no bench ${kind}; there are ${Object.keys(cases).join(', ')}`);
  const seen: Seen = { received: 0, refused: 0, first: 0n, steady: 0n, receivedBefore: 0, last: 0n, peak: 0 };
  const receiver = createReceivers(receiverKinds).create(optionsOf(setup.type, setup.framing), {
    sink: countingSink(seen),
    log: silentLog,
    registry: new Registry(),
    checker: createDecoder(),
    inflater: createInflater(),
  });
  await receiver.start();
  const { port } = receiver.address();
  const sampler = setInterval(() => {
    seen.peak = Math.max(seen.peak, process.memoryUsage.rss());
  }, 50);
  const before = process.cpuUsage();
  const sender = join(fileURLToPath(new URL('.', import.meta.url)), 'send.js');
  const { stdout } = await promisify(execFile)(process.execPath, [
    sender,
    kind,
    String(port),
    String(Math.round(messages * setup.share)),
    String(setup.rate),
  ]);
  const sent = Number(stdout);
  const drops = () => (setup.type === 'gelf_udp' ? (readKernelDrops('127.0.0.1', port) ?? 0) : 0);
  const deadline = Date.now() + 2000;
  while (seen.received + seen.refused + drops() < sent && Date.now() < deadline)
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  const used = process.cpuUsage(before);
  const kernelDrops = drops();
  clearInterval(sampler);
  await receiver.stop(1000);
  const steady =
    seen.steady === 0n
      ? { from: seen.first, count: seen.received }
      : { from: seen.steady, count: seen.received - seen.receivedBefore };
  return {
    kind,
    sent,
    received: seen.received,
    refused: seen.refused,
    kernelDrops,
    perSecond: steady.count / (Number(seen.last - steady.from) / 1e9),
    cpuMicrosPerMessage: (used.user + used.system) / Math.max(seen.received, 1),
    peakRssBytes: seen.peak,
  };
}

function optionsOf(type: 'gelf_tcp' | 'gelf_udp', framing: 'newline' | undefined): ReceiverOptions {
  const given = { type, host: '127.0.0.1', port: 0, ...(framing === undefined ? {} : { framing }) };
  return Value.Default(receiverKinds.find((kind) => kind.type === type)?.settings ?? {}, given) as ReceiverOptions;
}

interface Seen {
  received: number;
  refused: number;
  first: bigint;
  /** One second after the first message, when the code is compiled and the rate is reached; and what came before. */
  steady: bigint;
  receivedBefore: number;
  last: bigint;
  peak: number;
}

function countingSink(seen: Seen): MessageSink {
  const done = Promise.resolve();
  return {
    push: (batch) => {
      seen.last = process.hrtime.bigint();
      if (seen.first === 0n) seen.first = seen.last;
      seen.received += batch.values.length;
      if (seen.steady === 0n && seen.last - seen.first > 1_000_000_000n) {
        seen.steady = seen.last;
        seen.receivedBefore = seen.received;
      }
      return done;
    },
    refuse: (refusals) => {
      seen.refused += refusals.length;
      return done;
    },
    full: () => false,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const kinds = process.argv.slice(2);
  await benchReceive(kinds.length === 0 ? {} : { kinds });
}
