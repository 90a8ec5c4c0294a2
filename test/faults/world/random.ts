/** Random moments that a printed seed brings back. */

export type Random = () => number;

/** From 0 to below 1. */
export function createRandom(seed: number): Random {
  let state = seed % 2 ** 31;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}
