/**
 * UDP to a destination. The socket is connected, so that the system reports a closed port: then the messages wait,
 * although nothing but that report ever tells whether a datagram arrived.
 */
import { createSocket, type Socket } from 'node:dgram';
import { at } from '../../../core/at.js';
import { errorCode, errorText } from '../../../core/errors.js';
import { pause } from '../../../core/wait.js';
import type { Connection, Link, Parcel, WriteAnswer } from '../contract.js';
import { outputErrors } from '../errors.js';
import { assertNotOwn, createResolver, type Address, type LookUp, type OwnListener } from './addresses.js';

interface UdpLinkOptions {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly listeners: () => readonly OwnListener[];
  readonly lookUp?: LookUp | undefined;
}

/**
 * How long the report of a closed port may take on the way back, after the first datagram to a destination that was
 * away.
 */
const reportMs = 250;
const notAnswered: WriteAnswer = { answered: false };

export function createUdpLink(options: UdpLinkOptions): Link {
  const { host, port } = options;
  const address = `${options.name} udp ${host.includes(':') ? `[${host}]` : host}:${port}`;
  const resolve = createResolver(host, options.lookUp);
  let wasRefused = false;
  return {
    address,
    async connect() {
      const [candidate] = await resolve();
      assertNotOwn({ address: (candidate as Address).address, port, transport: 'udp' }, options.listeners());
      const socket = await open(candidate as Address, port, address);
      const connection = new UdpConnection(socket, address, wasRefused);
      void connection.broken.then((error) => {
        wasRefused ||= errorCode(error) !== 'OUTPUT_STOPPED';
      });
      return connection;
    },
  };
}

async function open({ address, family }: Address, port: number, place: string): Promise<Socket> {
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.connect(port, address, () => {
        socket.removeListener('error', reject);
        resolve();
      });
    });
    return socket;
  } catch (error) {
    throw outputErrors.create('OUTPUT_UNREACHABLE', { place, got: errorText(error), cause: error });
  }
}

class UdpConnection implements Connection {
  readonly broken: Promise<Error>;
  readonly #socket: Socket;
  readonly #place: string;
  #probes: boolean;
  #break: (error: Error) => void = () => undefined;
  #error: Error | undefined;
  #reject: ((error: Error) => void) | undefined;

  constructor(socket: Socket, place: string, probes: boolean) {
    this.#socket = socket;
    this.#place = place;
    this.#probes = probes;
    this.broken = new Promise((resolve) => {
      this.#break = resolve;
    });
    socket.on('error', (error) => this.#fail(error));
  }

  async write({ parts }: Parcel): Promise<WriteAnswer> {
    let first = 0;
    if (this.#probes) {
      await this.#send(parts, 0, 1);
      await pause(reportMs);
      this.#probes = false;
      first = 1;
    }
    if (first < parts.length) await this.#send(parts, first, parts.length);
    return notAnswered;
  }

  /** Resolves when the system has taken the last one; they leave in order. */
  #send(parts: readonly Buffer[], from: number, to: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#error !== undefined) return reject(this.#error);
      this.#reject = reject;
      const onSent = (error: Error | null): void => {
        if (error !== null) this.#fail(error);
      };
      for (let index = from; index < to - 1; index += 1) this.#socket.send(at(parts, index), onSent);
      this.#socket.send(at(parts, to - 1), (error) => {
        onSent(error);
        this.#reject = undefined;
        if (this.#error === undefined) resolve();
        else reject(this.#error);
      });
    });
  }

  unacknowledged(): undefined {
    return undefined;
  }

  async finish(): Promise<boolean> {
    return this.#error === undefined;
  }

  destroy(): void {
    this.#end(outputErrors.create('OUTPUT_STOPPED', { place: this.#place }));
  }

  #fail(error: Error): void {
    const refused = errorCode(error) === 'ECONNREFUSED';
    this.#end(
      outputErrors.create('OUTPUT_UNREACHABLE', {
        place: this.#place,
        got: refused ? 'nobody listens on this port' : errorText(error),
        cause: error,
      }),
    );
  }

  #end(error: Error): void {
    if (this.#error !== undefined) return;
    this.#error = error;
    this.#socket.close();
    this.#reject?.(error);
    this.#reject = undefined;
    this.#break(error);
  }
}
