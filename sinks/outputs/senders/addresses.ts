/** Addresses of a destination, looked up anew for each connection, and whether one of them is an own receiver. */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { errorText } from '../../../core/errors.js';
import { outputErrors } from '../errors.js';

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

export type LookUp = (host: string) => Promise<readonly Address[]>;

/** A receiver that listens in this process, or would by the same settings on this machine. */
export interface OwnListener {
  readonly name: string;
  readonly transport: 'tcp' | 'udp';
  readonly host: string;
  readonly port: number;
}

const lookUpAll: LookUp = async (host) => {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family: family as 4 | 6 }];
  const found = await lookup(host, { all: true, order: 'verbatim' });
  return found.map(({ address, family: of }) => ({ address, family: of as 4 | 6 }));
};

/** All addresses, beginning with another one at each call: one that is down does not hold the others for long. */
export function createResolver(host: string, lookUp: LookUp = lookUpAll): () => Promise<readonly Address[]> {
  let turn = 0;
  return async () => {
    const found = await lookUp(host).catch((error: unknown) => {
      throw outputErrors.create('OUTPUT_UNREACHABLE', {
        place: host,
        got: errorText(error),
        allowed: 'a host that resolves',
        cause: error,
      });
    });
    if (found.length === 0) throw outputErrors.create('OUTPUT_UNREACHABLE', { place: host, got: 'no address' });
    const first = turn % found.length;
    turn += 1;
    return [...found.slice(first), ...found.slice(0, first)];
  };
}

const mapped = /^::ffff:/i;
const plain = (address: string): string => address.replace(mapped, '').replace(/%.*$/, '');

function isOwnAddress(address: string): boolean {
  const bare = plain(address);
  if (bare === '::1' || /^127\./.test(bare) || bare === '0.0.0.0' || bare === '::') return true;
  return Object.values(networkInterfaces()).some(
    (entries) => entries?.some((entry) => plain(entry.address) === bare) === true,
  );
}

/** Throws when the address is that of an own receiver. */
export function assertNotOwn(
  remote: { readonly address: string; readonly port: number; readonly transport: 'tcp' | 'udp' },
  listeners: readonly OwnListener[],
): void {
  const same = listeners.filter(
    ({ port, transport }) => port === remote.port && transport === remote.transport && port !== 0,
  );
  if (same.length === 0 || !isOwnAddress(remote.address)) return;
  const bare = plain(remote.address);
  const own = same.find(
    ({ host }) =>
      host === '' ||
      host === '0.0.0.0' ||
      host === '::' ||
      plain(host) === bare ||
      (host === 'localhost' && /^(127\.|::1)/.test(bare)),
  );
  if (own === undefined) return;
  throw outputErrors.create('OUTPUT_LOOP', {
    place: `${remote.address}:${remote.port}`,
    got: `the receiver ${own.name} of this Sluice`,
    allowed: 'another host or port',
  });
}
