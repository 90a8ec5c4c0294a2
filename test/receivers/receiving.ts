/**
 * What the receiver tests share: a sink that remembers, receivers that are stopped after the test, and counters by
 * name.
 */
import { createConnection, type Socket } from 'node:net';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { Value } from 'typebox/value';
import { Registry } from '../../core/metrics.js';
import type { Receiver } from '../../receivers/contract.js';
import { createDecoder } from '../../gelf/decoder.js';
import { createInflater } from '../../receivers/inflate/inflater.js';
import { createReceivers } from '../../program/receivers.js';
import { receiverKinds } from '../../receivers/registry.js';
import type { ReceiverOptions } from '../../schemas/config/receivers.js';
import type { MessageBatch, MessageSink, Refusal } from '../../schemas/messages.js';
import { slowness } from '../deadlines.js';

const { create: createReceiver } = createReceivers(receiverKinds);

/** The settings of a receiver of this kind on a free loopback port, with its defaults. */
function receiverOptions(type: string, more: Readonly<Record<string, unknown>> = {}): ReceiverOptions {
  const schema = receiverKinds.find((kind) => kind.type === type)?.settings ?? {};
  return Value.Default(schema, { type, host: '127.0.0.1', port: 0, ...more }) as ReceiverOptions;
}

interface Teardown {
  teardown(handler: () => unknown): void;
}

interface RecordingSink extends MessageSink {
  readonly batches: MessageBatch[];
  readonly refusals: Refusal[];
  /** The messages so far, as the sender's text. */
  texts(): string[];
  /** `short_message` of each. */
  shorts(): string[];
  /** While held, pushes do not resolve. */
  hold(): void;
  release(): void;
  setFull(full: boolean): void;
  fail(error: Error): void;
}

function createRecordingSink(): RecordingSink {
  const batches: MessageBatch[] = [];
  const refusals: Refusal[] = [];
  let held: (() => void)[] | undefined;
  let full = false;
  let failure: Error | undefined;
  const wait = () => {
    if (failure !== undefined) return Promise.reject(failure);
    const waiting = held;
    return waiting === undefined
      ? Promise.resolve()
      : new Promise<void>((resolve) => {
          waiting.push(resolve);
        });
  };
  const texts = () => batches.flatMap((batch) => batch.values.map((value) => value.toString()));
  return {
    batches,
    refusals,
    texts,
    shorts: () => texts().map((text) => (JSON.parse(text) as { short_message: string }).short_message),
    push: (batch) => {
      batches.push({ ...batch, values: batch.values.map((value) => Buffer.from(value)) });
      return wait();
    },
    refuse: (more) => {
      refusals.push(...more);
      return wait();
    },
    full: () => full,
    hold: () => {
      held ??= [];
    },
    release: () => {
      const waiting = held ?? [];
      held = undefined;
      for (const resolve of waiting) resolve();
    },
    setFull: (value) => {
      full = value;
    },
    fail: (error) => {
      failure = error;
    },
  };
}

export interface Running {
  readonly receiver: Receiver;
  readonly sink: RecordingSink;
  readonly registry: Registry;
  readonly port: number;
  /** Log lines so far. */
  readonly lines: Record<string, unknown>[];
  /** Value of a counter or gauge with these labels (receiver is added); 0 when it has none. */
  count(name: string, labels?: Record<string, string>): Promise<number>;
}

/** A receiver of this kind on a free loopback port with the default settings, changed by `settings`; not started. */
export function buildReceiver(
  type: ReceiverOptions['type'],
  settings: Record<string, unknown> = {},
  sink = createRecordingSink(),
  create = createReceiver,
) {
  const options = receiverOptions(type, settings);
  const registry = new Registry();
  const lines: Record<string, unknown>[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      for (const line of chunk.toString().split('\n'))
        if (line !== '') lines.push(JSON.parse(line) as Record<string, unknown>);
      done();
    },
  });
  const receiver = create(options, {
    sink,
    log: pino({ level: 'debug' }, stream),
    registry,
    checker: createDecoder(),
    inflater: createInflater(),
  });
  return { receiver, options, registry, lines, sink };
}

/** Builds and starts one, and stops it after the test. */
export async function startReceiver(
  t: Teardown,
  type: ReceiverOptions['type'],
  settings: Record<string, unknown> = {},
  create = createReceiver,
): Promise<Running> {
  const { receiver, registry, lines, sink } = buildReceiver(type, settings, createRecordingSink(), create);
  await receiver.start();
  t.teardown(async () => {
    sink.release();
    await receiver.stop(1000);
  });
  const count = async (name: string, labels: Record<string, string> = {}) => {
    const metric = await registry.getSingleMetric(name)?.get();
    const wanted = Object.entries({ receiver: receiver.name, ...labels });
    return (metric?.values ?? [])
      .filter((value) => wanted.every(([key, label]) => value.labels[key] === label))
      .reduce((sum, value) => sum + value.value, 0);
  };
  return { receiver, sink, registry, port: receiver.address().port, lines, count };
}

/** Polls until the condition holds; fails after ten seconds with what was awaited. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 10_000,
): Promise<void> {
  const end = Date.now() + deadlineMs * slowness;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`not within ${deadlineMs * slowness} ms: ${what}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
}

export async function connectTo(t: Teardown, port: number): Promise<Socket> {
  const socket = createConnection({ port, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => {});
  t.teardown(() => {
    socket.destroy();
  });
  await once(socket, 'connect');
  return socket;
}

/** Connects, sends, ends, and resolves when the receiver has closed too. */
export async function sendOverTcp(t: Teardown, port: number, bytes: Buffer | string): Promise<void> {
  const socket = await connectTo(t, port);
  socket.resume();
  socket.end(bytes);
  await once(socket, 'close');
}

export async function sendOverUdp(port: number, datagrams: readonly (Buffer | string)[]): Promise<void> {
  const socket = createSocket('udp4');
  for (const datagram of datagrams) {
    await new Promise<void>((resolve, reject) => {
      socket.send(datagram, port, '127.0.0.1', (error) => {
        if (error === null) resolve();
        else reject(error);
      });
    });
  }
  socket.close();
}

export function gelf(shortMessage: string, more: Record<string, unknown> = {}): string {
  return JSON.stringify({ version: '1.1', host: 'test', short_message: shortMessage, ...more });
}

/** received = decoded + refused + shed, and each as expected. */
export async function reconcile(
  running: Running,
): Promise<{ received: number; decoded: number; refused: number; shed: number; exact: boolean }> {
  const of = (name: string) => running.count(`sluice_messages_${name}_total`);
  const [received, decoded, refused, shed] = await Promise.all([
    of('received'),
    of('decoded'),
    of('refused'),
    of('shed'),
  ]);
  return { received, decoded, refused, shed, exact: received === decoded + refused + shed };
}
