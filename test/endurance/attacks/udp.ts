/**
 * Against the GELF UDP port. Every datagram that the kernel took is counted: the program's count and the kernel's drops
 * must add up to it.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { deflateSync, gzipSync } from 'node:zlib';
import { attackerAddress, every, type Attack, type AttackContext } from './contract.js';

function chunk(id: Buffer, number: number, count: number, data: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x1e, 0x0f]), id, Buffer.from([number, count]), data]);
}

async function open(context: AttackContext): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.bind(0, attackerAddress);
  await once(socket, 'listening');
  socket.connect(context.target.udp, '127.0.0.1');
  await once(socket, 'connect');
  socket.setSendBufferSize(4 * 2 ** 20);
  return socket;
}

/** Sends what `make` gives, `perTurn` datagrams each 10 ms; counts those that the kernel took. */
async function flood(context: AttackContext, perTurn: number, make: (turn: number) => Buffer): Promise<void> {
  const socket = await open(context);
  let unsent = 0;
  let turn = 0;
  await every(10, context.signal, () => {
    for (let number = 0; number < perTurn; number += 1) {
      unsent += 1;
      socket.send(make((turn += 1)), (error) => {
        unsent -= 1;
        if (error === null) context.count('datagrams');
      });
    }
  });
  while (unsent > 0)
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  socket.close();
}

/** 8 KiB that become more than the largest message. */
const bombs = [gzipSync(Buffer.alloc(9 * 2 ** 20), { level: 9 }), deflateSync(Buffer.alloc(9 * 2 ** 20), { level: 9 })];
const goodMessage = Buffer.from(`{"host":"h","short_message":"chunked ${'y'.repeat(300)}"}`);

export const udpAttacks: readonly Attack[] = [
  {
    name: 'first chunks only',
    aim: 'memory of incomplete sets',
    lasts: false,
    run: (context) => {
      const data = Buffer.alloc(1_000, 'c');
      return flood(context, 30, () => chunk(context.randomBytes(8), 0, 128, data));
    },
  },
  {
    name: 'wrong chunks',
    aim: "the assembler's book-keeping",
    lasts: false,
    run: (context) => {
      const id = Buffer.from('same-id!');
      const kinds: readonly (() => Buffer)[] = [
        () => chunk(id, 0, 0, goodMessage),
        () => chunk(id, 5, 3, goodMessage),
        () => chunk(id, context.random(200), context.random(256), goodMessage),
        () => Buffer.from([0x1e, 0x0f, 1, 2, 3]),
        () => chunk(context.randomBytes(8), 0, 1, chunk(context.randomBytes(8), 0, 1, goodMessage)),
        () => chunk(id, context.random(2), 2, context.randomBytes(50)),
        () => chunk(Buffer.alloc(8), 0, 1, Buffer.alloc(0)),
      ];
      return flood(context, 20, () => (kinds[context.random(kinds.length)] as () => Buffer)());
    },
  },
  {
    name: 'chunks again and again',
    aim: 'duplicates, late copies',
    lasts: false,
    run: (context) => {
      const ids = Array.from({ length: 50 }, () => context.randomBytes(8));
      return flood(context, 30, (turn) =>
        chunk(ids[turn % ids.length] as Buffer, Math.floor(turn / ids.length) % 2, 2, goodMessage),
      );
    },
  },
  {
    name: 'bombs over UDP',
    aim: 'time and memory of inflating',
    lasts: false,
    run: (context) => flood(context, 1, (turn) => bombs[turn % bombs.length] as Buffer),
  },
  {
    name: 'random bytes, UDP',
    aim: 'diagnosis, dead letters',
    lasts: false,
    run: (context) => flood(context, 20, () => context.randomBytes(1 + context.random(1_400))),
  },
];
