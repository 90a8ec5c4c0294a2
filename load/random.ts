/** Random numbers that a seed decides: mulberry32. */
import { at } from '../core/at.js';

export type Random = () => number;

/** Whole numbers from 0 to 2^32 - 1. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    return mix(state);
  };
}

/** A number that only its two arguments decide. */
export function hash(a: number, b: number): number {
  return mix((Math.imul(a, 0x9e3779b1) + Math.imul(b, 0x85ebca6b) + 0x6d2b79f5) >>> 0);
}

function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 15), value | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return (mixed ^ (mixed >>> 14)) >>> 0;
}

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return at(items, random() % items.length);
}
