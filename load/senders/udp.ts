/**
 * One message a datagram, mixed as senders mix them: plain, gzip, zlib, and chunked (GELF: 1e 0f, 8-byte id, number,
 * count).
 */
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { deflateSync, gzipSync } from 'node:zlib';
import type { Lane, LoadContext, Sender } from '../contract.js';
import { loadErrors } from '../errors.js';
import { hash } from '../random.js';

/** Datagrams handed to the kernel and not yet answered. */
const maxUnanswered = 512;
/** Fluent Bit's and Fluentd's datagrams; the smaller chunks make sets of several of average messages. */
const datagramBytes = 1420;
const smallChunkBytes = 180;
const maxChunks = 128;

export function createUdpSender(context: LoadContext, port: number): Sender {
  const { generator, counts, options } = context;
  const socket = createSocket(options.host.includes(':') ? 'udp6' : 'udp4');
  const scratch = Buffer.allocUnsafeSlow(generator.largestBytes);
  const firstId = randomBytes(4);
  let lane: Lane | undefined;
  let unanswered = 0;
  socket.on('error', () => (counts.failed += 1));

  const answered = (started: number) => (error: Error | null) => {
    unanswered -= 1;
    if (error === null) context.write.add(performance.now() - started);
    else counts.failed += 1;
  };
  const hand = (datagram: Buffer): void => {
    unanswered += 1;
    counts.bytes += datagram.length;
    socket.send(datagram, answered(performance.now()));
  };
  const handChunks = (message: Buffer, chunkBytes: number, sequence: number): void => {
    const total = Math.ceil(message.length / chunkBytes);
    for (let number = 0; number < total; number += 1) {
      const part = message.subarray(number * chunkBytes, (number + 1) * chunkBytes);
      const datagram = Buffer.allocUnsafe(12 + part.length);
      datagram.writeUInt16BE(0x1e0f, 0);
      firstId.copy(datagram, 2);
      datagram.writeUInt32BE(sequence >>> 0, 6);
      datagram[10] = number;
      datagram[11] = total;
      part.copy(datagram, 12);
      hand(datagram);
    }
  };

  return {
    async open() {
      await new Promise<void>((resolve, reject) => {
        socket.once('error', (cause) =>
          reject(loadErrors.create('LOAD_TARGET_UNREACHABLE', { place: `udp ${options.host}:${port}`, cause })),
        );
        socket.connect(port, options.host, resolve);
      });
      lane = context.openLane('udp');
    },
    send(count, nowMs) {
      if (lane === undefined) return 0;
      let sent = 0;
      for (; sent < count && unanswered < maxUnanswered; sent += 1) {
        const end = generator.write(scratch, 0, lane, nowMs);
        const kind = hash(options.seed, lane.sent) % 10;
        const plain = scratch.subarray(0, end);
        const message =
          kind < 2 ? gzipSync(plain, { level: 1 }) : kind < 4 ? deflateSync(plain, { level: 1 }) : Buffer.from(plain);
        const chunkBytes = Math.max(
          kind === 4 || kind === 0 ? smallChunkBytes : datagramBytes,
          Math.ceil(message.length / maxChunks),
        );
        if (message.length <= chunkBytes) hand(message);
        else handChunks(message, chunkBytes, lane.sent);
        lane.sent += 1;
      }
      return sent;
    },
    async close(deadlineMs) {
      const deadline = performance.now() + deadlineMs;
      while (unanswered > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5));
      await new Promise<void>((resolve) => socket.close(() => resolve()));
    },
  };
}
