/** How a sender ends. What it does on real connections is in the other files of this folder. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { silentLog } from '../../../core/log.js';
import type { Connection, Link } from '../../../sinks/outputs/contract.js';
import { Sender } from '../../../sinks/outputs/sender.js';

interface Confirmed {
  readonly nextOffset: number;
  readonly messages: number;
}

/** A destination that reads everything and takes part in an orderly end when `finishes` resolves. */
function createLink(finishes: () => Promise<boolean>): { readonly link: Link; readonly written: Promise<void> } {
  let onWritten = (): void => undefined;
  const written = new Promise<void>((resolve) => {
    onWritten = resolve;
  });
  const connection: Connection = {
    write: async () => {
      onWritten();
      return { answered: false };
    },
    unacknowledged: () => 0,
    broken: new Promise(() => undefined),
    finish: finishes,
    destroy: () => undefined,
  };
  return { link: { address: 'gelf tcp nowhere:1', connect: async () => connection }, written };
}

/** As a socket does: the timer of a sender does not keep a process alive. */
const alive = setInterval(() => undefined, 1_000);
t.teardown(() => clearInterval(alive));

function createSender(link: Link, onConfirmed: (one: Confirmed) => void): Sender {
  return new Sender({
    link,
    confirmAfterMs: 50,
    unconfirmedBytes: 2 ** 20,
    idleTimeoutMs: 60_000,
    retryMostMs: 1_000,
    log: silentLog,
    onConfirmed: (nextOffset, messages) => onConfirmed({ nextOffset, messages }),
    onFailed: () => undefined,
    onStopped: (error) => {
      throw error;
    },
  });
}

const parcel = { parts: [Buffer.from('{}\0')], bytes: 3, messages: 1, nextOffset: 1 };

async function sendAndStop(sender: Sender, written: Promise<void>): Promise<void> {
  sender.start();
  await sender.send(parcel);
  await written;
  await nextTurn();
  await sender.stop(10_000);
}

t.test('everything is confirmed by the time while the connection ends: nothing is confirmed twice', async (t) => {
  const confirmed: Confirmed[] = [];
  let onFirst = (): void => undefined;
  const first = new Promise<void>((resolve) => {
    onFirst = resolve;
  });
  const { link, written } = createLink(() => first.then(() => true));
  const sender = createSender(link, (one) => {
    confirmed.push(one);
    onFirst();
  });
  await sendAndStop(sender, written);
  t.same(confirmed, [{ nextOffset: 1, messages: 1 }]);
  t.match(sender.state(), { state: 'idle', unconfirmedMessages: 0, unconfirmedBytes: 0 });
});

t.test('a connection that ends in order confirms what was written', async (t) => {
  const confirmed: Confirmed[] = [];
  const { link, written } = createLink(async () => true);
  const sender = createSender(link, (one) => {
    confirmed.push(one);
  });
  await sendAndStop(sender, written);
  t.same(confirmed, [{ nextOffset: 1, messages: 1 }]);
});
