/** Against the GELF HTTP port. */
import { connect, type Socket } from 'node:net';
import * as zlib from 'node:zlib';
import { attackerAddress, every, type Attack, type AttackContext } from './contract.js';

/**
 * In the text of messages that must never be accepted: they stand where only a misread request would find a message.
 */
export const smuggledMark = 'smuggled-message';

const smuggled = `{"host":"h","short_message":"${smuggledMark}"}`;
const inner = `POST /gelf HTTP/1.1\r\nHost: h\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`;
const good = '{"host":"h","short_message":"carrier"}';

/**
 * Requests that two readers could cut in two ways; each is answered with an error, or its connection is closed, before
 * the hidden message.
 */
const ambiguous: readonly string[] = [
  `POST /gelf HTTP/1.1\r\nHost: h\r\nContent-Length: ${smuggled.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
  `POST /gelf HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5c\r\n${smuggled}\r\n0\r\n\r\n`,
  `POST /gelf HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
  `POST /gelf HTTP/1.1\r\nHost: h\r\nContent-Length: +${smuggled.length}\r\n\r\n${smuggled}`,
  `POST /gelf HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n${smuggled}`,
  `POST /gelf HTTP/1.1\r\nHost: h\r\nContent-Length: 0x${smuggled.length.toString(16)}\r\n\r\n${smuggled}`,
  `POST /gelf HTTP/1.1\r\nHost: h\r\nContent-Length : ${smuggled.length}\r\n\r\n${smuggled}`,
  `POST /gelf HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n${inner}`,
  `POST /gelf HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${inner}`,
  `POST /gelf HTTP/1.1\r\nHost: h\r\n Content-Length: ${smuggled.length}\r\nContent-Length: 0\r\nContent-Length: 1\r\n\r\n${smuggled}`,
  `POST /gelf HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n${inner}`,
  `POST /gelf HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n${inner}`,
];

/** Nonsense that must be answered and counted as a bad request. */
const nonsense: readonly string[] = [
  `GET / HTTP/1.1\r\n${'X-Long: y\r\n'.repeat(3_000)}\r\n`,
  `POST /${'a'.repeat(40_000)} HTTP/1.1\r\nHost: h\r\n\r\n`,
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'POST /gelf\r\n\r\n',
  '\r\n\r\n\r\n',
  'POST /gelf HTTP/9.9\r\nHost: h\r\n\r\n',
  `POST /gelf HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}\r\na\r\n0\r\n\r\n`,
  `POST /gelf HTTP/1.1\r\nHost: h\r\nExpect: 200-maybe\r\nContent-Length: 5\r\n\r\nabcde`,
];

function dial(context: AttackContext): Socket {
  context.count('connections');
  const socket = connect({ port: context.target.http, host: '127.0.0.1', localAddress: attackerAddress });
  socket.on('error', () => {
    context.count('connections broken');
  });
  socket.on('data', (data: Buffer) => {
    const status = /^HTTP\/1\.1 (\d+)/.exec(data.toString('latin1', 0, 20))?.[1];
    if (status !== undefined) context.count(`answers ${status}`);
  });
  return socket;
}

const post = (body: Buffer, encoding: string): Buffer =>
  Buffer.concat([
    Buffer.from(
      `POST /gelf HTTP/1.1\r\nHost: h\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`,
    ),
    body,
  ]);

const zeros = Buffer.alloc(100 * 2 ** 20);
type Compress = (bytes: Buffer) => Buffer;
const zstd = (zlib as unknown as { zstdCompressSync?: Compress }).zstdCompressSync;
const bombs: readonly Buffer[] = [
  post(zlib.gzipSync(zeros), 'gzip'),
  post(zlib.deflateSync(zeros), 'deflate'),
  post(zlib.deflateRawSync(zeros), 'deflate'),
  // Bombs within bombs: 100 MiB of zeros become 100 kB, and those become hundreds of bytes.
  post(zlib.gzipSync(zlib.gzipSync(zeros)), 'gzip, gzip'),
  post(zlib.gzipSync(zlib.gzipSync(zlib.gzipSync(zeros))), 'gzip, gzip, gzip'),
  ...(zstd === undefined ? [] : [post(zstd(zeros), 'zstd')]),
];
const deepBody = Buffer.from(`${'['.repeat(1_000_000)}`);
const manyMessages = Buffer.from(`[${Array.from({ length: 60_000 }, () => '{"host":1}').join(',')}]`);

/** A new connection for each; at most `most` are open. */
async function shower(
  context: AttackContext,
  everyMs: number,
  most: number,
  pick: () => Buffer | string,
): Promise<void> {
  let open = 0;
  await every(everyMs, context.signal, () => {
    if (open >= most) return;
    open += 1;
    const socket = dial(context);
    const timer = setTimeout(() => {
      socket.destroy();
    }, 3_000);
    socket.once('close', () => {
      open -= 1;
      clearTimeout(timer);
    });
    socket.once('connect', () => {
      socket.write(pick());
    });
  });
}

export const httpAttacks: readonly Attack[] = [
  {
    name: 'slow loris, HTTP',
    aim: 'connections, header and body timeouts',
    lasts: true,
    run: async (context) => {
      const open = new Set<Socket>();
      await every(500, context.signal, () => {
        for (let fresh = 0; open.size < 300 && fresh < 50; fresh += 1) {
          const socket = dial(context);
          open.add(socket);
          socket.once('close', () => {
            open.delete(socket);
          });
          socket.write(
            context.random(2) === 0
              ? 'POST /gelf HTTP/1.1\r\nHost: h\r\n'
              : 'POST /gelf HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n{',
          );
        }
        for (const socket of open) if (socket.writable && !socket.connecting) socket.write('X');
      });
      for (const socket of open) socket.destroy();
    },
  },
  {
    name: 'bombs over HTTP',
    aim: 'time and memory of inflating',
    lasts: false,
    run: (context) => shower(context, 100, 4, () => bombs[context.random(bombs.length)] as Buffer),
  },
  {
    name: 'deep and many, HTTP',
    aim: 'splitting bodies, long answers',
    lasts: false,
    run: (context) =>
      shower(context, 250, 2, () => post(context.random(2) === 0 ? deepBody : manyMessages, 'identity')),
  },
  {
    name: 'smuggling',
    aim: 'requests within requests',
    lasts: false,
    run: (context) => shower(context, 15, 20, () => ambiguous[context.random(ambiguous.length)] as string),
  },
  {
    name: 'HTTP nonsense',
    aim: 'the HTTP parser',
    lasts: false,
    run: (context) =>
      shower(context, 15, 20, () =>
        context.random(3) === 0
          ? context.randomBytes(2_000)
          : context.random(4) === 0
            ? `${good}\n`
            : (nonsense[context.random(nonsense.length)] as string),
      ),
  },
];
