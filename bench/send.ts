/**
 * The sending half of the receive bench, run as a child process: `node send.js <kind> <port> <messages>`. Prints how
 * many it sent.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { gzipSync } from 'node:zlib';

/** 420 bytes, as a container log line is. */
export function benchMessage(index: number): string {
  const head =
    `{"version":"1.1","host":"node-7","short_message":"payment accepted for order ${String(index).padStart(9, '0')}","timestamp":1767323045.678,"level":6,` +
    '"_namespace":"shop","_pod":"pay-5d-x1","_container":"pay","_labels_app":"pay","_request_id":"r-1","_detected_level":"info","_parse_format":"qubership","_nodename":"node-7","_filler":"';
  return `${head}${'x'.repeat(420 - head.length - 2)}"}`;
}

/** Datagrams sent before the receiver gets a turn: its buffer of 4 MiB holds 3,000. */
const burst = 64;
/**
 * What the sender fell behind by more than this is not caught up: a burst at its own full speed would measure the
 * sender.
 */
const maxLateSeconds = 0.002;
const tcpBlockMessages = 400;

async function sendTcp(port: number, messages: number, pack: (text: string) => Buffer | undefined): Promise<number> {
  const socket = createConnection({ port, host: '127.0.0.1' });
  await once(socket, 'connect');
  const frames: Buffer[] = [];
  for (let index = 0; frames.length < tcpBlockMessages; index += 1) {
    const frame = pack(benchMessage(index));
    if (frame !== undefined) frames.push(frame);
  }
  const block = Buffer.concat(frames);
  let sent = 0;
  for (; sent < messages; sent += tcpBlockMessages) if (!socket.write(block)) await once(socket, 'drain');
  socket.end();
  socket.resume();
  await once(socket, 'close');
  return sent;
}

/**
 * Rises to `rate` a second within the first second, so that the receiver is compiled before it is measured; in bursts.
 */
async function sendUdp(
  port: number,
  messages: number,
  datagramsOf: (index: number) => readonly Buffer[],
  rate: number,
): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.setSendBufferSize(4 * 2 ** 20);
  const seconds = () => Number(process.hrtime.bigint()) / 1e9;
  const began = seconds();
  let next = began;
  let sent = 0;
  while (sent < messages) {
    const now = seconds();
    if (now < next) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      continue;
    }
    next = Math.max(next, now - maxLateSeconds) + burst / (rate * Math.min(1, Math.max(0.05, now - began)));
    const last = Math.min(messages, sent + burst);
    let waiting = 0;
    await new Promise<void>((resolve) => {
      for (; sent < last; sent += 1) {
        for (const datagram of datagramsOf(sent)) {
          waiting += 1;
          socket.send(datagram, () => {
            waiting -= 1;
            if (waiting === 0) resolve();
          });
        }
      }
    });
  }
  socket.close();
  return sent;
}

function chunksOf(payload: Buffer, index: number, size: number): Buffer[] {
  const count = Math.ceil(payload.length / size);
  return Array.from({ length: count }, (_, number) => {
    const header = Buffer.alloc(12);
    header.writeUInt16BE(0x1e0f, 0);
    header.writeUInt32BE(index, 4);
    header[10] = number;
    header[11] = count;
    return Buffer.concat([header, payload.subarray(number * size, (number + 1) * size)]);
  });
}

const plainFrame = (text: string) => Buffer.from(`${text}\0`);
/** Only members without a newline pass through newline framing. */
const gzipLine = (text: string) => {
  const packed = gzipSync(text);
  return packed.includes(0x0a) ? undefined : Buffer.concat([packed, Buffer.from('\n')]);
};
const poolOf = (make: (index: number) => readonly Buffer[]) => {
  const pool = Array.from({ length: 1024 }, (_, index) => make(index));
  return (index: number) => pool[index % pool.length] as readonly Buffer[];
};

const senders: Readonly<Record<string, (port: number, messages: number, rate: number) => Promise<number>>> = {
  tcp: (port, messages) => sendTcp(port, messages, plainFrame),
  /** As several forwarders: each connection is a lane, and lanes are spread over the partitions. */
  tcp_4: async (port, messages) =>
    (await Promise.all(Array.from({ length: 4 }, () => sendTcp(port, messages / 4, plainFrame)))).reduce(
      (sum, sent) => sum + sent,
      0,
    ),
  tcp_gzip: (port, messages) => sendTcp(port, messages, gzipLine),
  udp: (port, messages, rate) =>
    sendUdp(
      port,
      messages,
      poolOf((index) => [Buffer.from(benchMessage(index))]),
      rate,
    ),
  udp_gzip: (port, messages, rate) =>
    sendUdp(
      port,
      messages,
      poolOf((index) => [gzipSync(benchMessage(index))]),
      rate,
    ),
  udp_chunked: (port, messages, rate) =>
    sendUdp(port, messages, (index) => chunksOf(Buffer.from(benchMessage(index)), index, 150), rate),
};

const [kind, port, messages, rate] = process.argv.slice(2);
if (kind !== undefined && process.argv[1]?.endsWith('send.js')) {
  const send = senders[kind];
  if (send !== undefined) process.stdout.write(`${await send(Number(port), Number(messages), Number(rate))}\n`);
}
