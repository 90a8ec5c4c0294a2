/**
 * Gives each message id of a load a small number, in bounded memory: ids are `<run>-<partition>-<sequence>` in
 * hexadecimal with sequences that have no gaps, so a page of slots covers 4,096 neighbours and 10 million ids take
 * about 40 MB.
 */
import { at } from '../core/at.js';
import { loadErrors } from './errors.js';

const pageBits = 12;
const pageSize = 2 ** pageBits;
/** Pages and foreign ids that a table may hold: 40 million slots. More means that ids are not what they should be. */
const maxPages = 10_000;
const maxForeign = 1_000_000;

interface IdTable {
  /** The number of an id; a new one when it was not seen before. */
  add(id: string): { readonly slot: number; readonly isNew: boolean };
  /** The number of an id that was added; undefined for every other. */
  find(id: string): number | undefined;
  readonly size: () => number;
}

export function createIdTable(): IdTable {
  const groups = new Map<string, Map<number, Uint32Array>>();
  const foreign = new Map<string, number>();
  let size = 0;
  let pages = 0;
  // Neighbouring records mostly belong to one partition.
  let lastPrefix = '';
  let lastLength = -1;
  let lastGroup: Map<number, Uint32Array> | undefined;

  const pageOf = (id: string, create: boolean): { page: Uint32Array; at: number } | undefined => {
    const cut = id.lastIndexOf('-');
    const sequence = cut > 0 ? readHex(id, cut + 1) : undefined;
    if (sequence === undefined) return undefined;
    let group =
      id.length === lastLength && id.startsWith(lastPrefix) && cut === lastPrefix.length ? lastGroup : undefined;
    if (group === undefined) {
      const prefix = id.slice(0, cut);
      // The width belongs to the id: 0a and a are two ids.
      const key = `${id.length} ${prefix}`;
      group = groups.get(key);
      if (group === undefined) {
        if (!create) return undefined;
        group = new Map<number, Uint32Array>();
        groups.set(key, group);
      }
      lastPrefix = prefix;
      lastLength = id.length;
      lastGroup = group;
    }
    const number = Math.floor(sequence / pageSize);
    let page = group.get(number);
    if (page === undefined) {
      if (!create) return undefined;
      pages += 1;
      if (pages > maxPages)
        throw loadErrors.create('LOAD_VERIFY_UNREADABLE', {
          got: 'message ids without neighbours',
          allowed: 'ids of one sequence for each partition',
        });
      group.set(number, (page = new Uint32Array(pageSize)));
    }
    return { page, at: sequence % pageSize };
  };

  return {
    add(id) {
      const place = pageOf(id, true);
      const known = place === undefined ? foreign.get(id) : (place.page[place.at] ?? 0) - 1;
      if (known !== undefined && known >= 0) return { slot: known, isNew: false };
      if (place !== undefined) place.page[place.at] = size + 1;
      else if (foreign.size >= maxForeign)
        throw loadErrors.create('LOAD_VERIFY_UNREADABLE', {
          got: 'more than a million ids of another form',
          allowed: 'ids as <run>-<partition>-<sequence>',
        });
      else foreign.set(id, size);
      size += 1;
      return { slot: size - 1, isNew: true };
    },
    find(id) {
      const place = pageOf(id, false);
      if (place === undefined) return foreign.get(id);
      const slot = (place.page[place.at] ?? 0) - 1;
      return slot < 0 ? undefined : slot;
    },
    size: () => size,
  };
}

/** The small hexadecimal number from here to the end, as Sluice writes it; undefined for anything else. */
function readHex(id: string, from: number): number | undefined {
  if (id.length === from || id.length - from > 13) return undefined;
  let number = 0;
  for (let index = from; index < id.length; index += 1) {
    const code = id.charCodeAt(index);
    const digit = code >= 48 && code <= 57 ? code - 48 : code >= 97 && code <= 102 ? code - 87 : -1;
    if (digit < 0) return undefined;
    number = number * 16 + digit;
  }
  return number;
}

/** A set of small numbers, a bit each; grows by doubling. */
export interface BitSet {
  /** False when it was set before. */
  add(number: number): boolean;
  has(number: number): boolean;
  readonly count: () => number;
}

export function createBitSet(): BitSet {
  let bits = new Uint8Array(1024);
  let count = 0;
  return {
    add(number) {
      const index = number >>> 3;
      if (index >= bits.length) {
        const larger = new Uint8Array(Math.max(bits.length * 2, index + 1));
        larger.set(bits);
        bits = larger;
      }
      const mask = 1 << (number & 7);
      if ((at(bits, index) & mask) !== 0) return false;
      bits[index] = at(bits, index) | mask;
      count += 1;
      return true;
    },
    has: (number) => ((bits[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0,
    count: () => count,
  };
}
