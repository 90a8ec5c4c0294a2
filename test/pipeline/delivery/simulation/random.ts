/** The only source of chance in a simulated world, so that its seed replays it. */
export interface Random {
  /** From 0 to below `count`. */
  pick(count: number): number;
  chance(share: number): boolean;
}

/** Small, fast and good enough (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { pick: (count) => Math.floor(next() * count), chance: (share) => next() < share };
}

/** Nothing happens by chance: for cases that are written down. */
export const noChance: Random = { pick: () => 0, chance: () => false };
