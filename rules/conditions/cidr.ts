import { Type } from 'typebox';
import ipaddr from 'ipaddr.js';
import { fieldReader, textOf } from '../fields.js';
import { shown, type Place } from '../problems.js';
import { defineCondition, never } from './define.js';

const description = 'The field is an address (IPv4, IPv6, with or without port) inside one of these networks.';
type Network = ReturnType<typeof ipaddr.parseCIDR>;

export const cidr = defineCondition({
  name: 'cidr',
  description,
  takesField: true,
  schema: Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })], {
    description,
  }),
  example: {
    when: { field: 'peer_address', cidr: ['10.0.0.0/8', 'fd00::/8'] },
    matches: { peer_address: '10.1.2.3:41000' },
    misses: { peer_address: '192.0.2.7:41000' },
  },
  build: (value, place) => {
    const texts = typeof value === 'string' ? [value] : value;
    const networks = texts.map((text, index) =>
      parseNetwork(text, typeof value === 'string' ? place : place.at(index)),
    );
    const known = networks.filter((network) => network !== undefined);
    if (known.length < networks.length) return never;
    const read = fieldReader(place.field);
    return {
      text: `${place.field} is in ${texts.join(', ')}`,
      field: place.field,
      children: [],
      requirements: [[{ kind: 'exists', field: place.field }]],
      test: (document) => {
        const found = read(document);
        return found !== undefined && isInside(textOf(found).trim(), known);
      },
    };
  },
});

function parseNetwork(text: string, place: Place): Network | undefined {
  try {
    const [address, bits] = ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`);
    return [address, bits] as Network;
  } catch {
    place.report('This is no network.', {
      got: shown(text),
      allowed: 'address/bits, for example 10.0.0.0/8 or fd00::/8',
    });
    return undefined;
  }
}

/** The longest text that can be an address with a port. */
const longestAddress = 64;

function isInside(text: string, networks: readonly Network[]): boolean {
  if (text.length > longestAddress) return false;
  const bare = withoutPort(text);
  if (!ipaddr.isValid(bare)) return false;
  const address = ipaddr.process(bare);
  return networks.some(
    ([network, bits]) =>
      network.kind() === address.kind() && (address.match as (other: unknown, bits: number) => boolean)(network, bits),
  );
}

/** `10.1.2.3:80` and `[::1]:80`; a bare IPv6 address stays. */
function withoutPort(text: string): string {
  if (text.startsWith('[')) return text.slice(1, text.indexOf(']') < 0 ? undefined : text.indexOf(']'));
  const colon = text.indexOf(':');
  return colon > 0 && colon === text.lastIndexOf(':') ? text.slice(0, colon) : text;
}
