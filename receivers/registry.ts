/** The kinds of receivers. A new one is a file and a line here, and its options in schemas/config/receivers.ts. */
import type { ReceiverOptions } from '../schemas/config/receivers.js';
import type { Receiver } from './contract.js';
import { createGelfHttpReceiver } from './gelf-http.js';
import { createGelfTcpReceiver } from './gelf-tcp.js';
import { createGelfUdpReceiver } from './gelf-udp.js';
import { canShareUdpPort } from './listen/bind.js';
import type { ReceiverContext } from './listen/context.js';

export type { ReceiverContext } from './listen/context.js';

interface ReceiverKind<Type extends ReceiverOptions['type'] = ReceiverOptions['type']> {
  readonly type: Type;
  readonly create: (options: ReceiverOptions, context: ReceiverContext) => Receiver;
}

/** Ties a kind to its own options, and gives an entry that takes any, so that the list needs no casts elsewhere. */
function defineReceiver<Type extends ReceiverOptions['type']>(
  type: Type,
  create: (options: Extract<ReceiverOptions, { type: Type }>, context: ReceiverContext) => Receiver,
): ReceiverKind<Type> {
  return { type, create: (options, context) => create(options as Extract<ReceiverOptions, { type: Type }>, context) };
}

/**
 * TCP ports are shared by all workers. Of UDP the datagrams of one sender must reach one process, or its chunks would never meet: each
 * worker has a socket of its own where the kernel divides senders among them, else the first worker alone has it.
 */
export function runsInWorker(options: ReceiverOptions, worker: number): boolean {
  return worker === 1 || options.type !== 'gelf_udp' || (options.port !== 0 && canShareUdpPort());
}

export const receiverKinds: readonly ReceiverKind[] = [
  defineReceiver('gelf_tcp', (options, context) => createGelfTcpReceiver(options, context)),
  defineReceiver('gelf_udp', createGelfUdpReceiver),
  defineReceiver('gelf_http', createGelfHttpReceiver),
];

export function createReceiver(options: ReceiverOptions, context: ReceiverContext): Receiver {
  const kind = receiverKinds.find(({ type }) => type === options.type);
  if (kind === undefined) throw new TypeError(`no receiver of type ${options.type}`);
  return kind.create(options, context);
}
