/**
 * Records the golden bytes of the real senders: `node build/test/receivers/capture-senders.js`. The README beside them
 * says the versions.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { packageRoot } from '../../core/process/package-root.js';
import { senders, type Sender } from './senders.js';

const quietMs = 300;
const accepted = 'HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';

async function captureDatagrams(sender: Sender): Promise<Buffer> {
  const parts: Buffer[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (datagram) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(datagram.length);
    parts.push(length, datagram);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  await sender.send(socket.address().port);
  await new Promise((resolve) => {
    setTimeout(resolve, quietMs);
  });
  socket.close();
  return Buffer.concat(parts);
}

/** The bytes of all connections behind each other; an HTTP sender is answered when it falls silent. */
async function captureStream(sender: Sender): Promise<Buffer> {
  const connections: Buffer[][] = [];
  const server = createServer((socket: Socket) => {
    const parts: Buffer[] = [];
    connections.push(parts);
    let timer: NodeJS.Timeout | undefined;
    socket.on('error', () => {});
    socket.on('data', (data: Buffer) => {
      parts.push(data);
      clearTimeout(timer);
      if (sender.type === 'gelf_http')
        timer = setTimeout(() => {
          socket.end(accepted);
        }, quietMs);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  await sender.send((server.address() as AddressInfo).port);
  await new Promise((resolve) => {
    setTimeout(resolve, quietMs);
  });
  server.close();
  return Buffer.concat(connections.flat());
}

for (const sender of senders) {
  if (sender.tls === true || sender.missing !== false) continue;
  const bytes = sender.type === 'gelf_udp' ? await captureDatagrams(sender) : await captureStream(sender);
  writeFileSync(join(packageRoot, 'test/fixtures/gelf', `${sender.name}.bin`), bytes);
  process.stdout.write(`${sender.name}: ${bytes.length} bytes\n`);
}
