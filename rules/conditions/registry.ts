/** Every kind of condition, in the order of the reference page. A new one is a file and a line here. */
import { all } from './all.js';
import { always } from './always.js';
import { any } from './any.js';
import { cidr } from './cidr.js';
import { contains } from './contains.js';
import type { ConditionEntry } from './define.js';
import { endsWith } from './ends-with.js';
import { equals } from './equals.js';
import { exists } from './exists.js';
import { greater } from './greater.js';
import { input } from './input.js';
import { less } from './less.js';
import { not } from './not.js';
import { oneOf } from './one-of.js';
import { regex } from './regex.js';
import { startsWith } from './starts-with.js';

export const conditions: readonly ConditionEntry[] = [
  all,
  any,
  not,
  equals,
  oneOf,
  contains,
  startsWith,
  endsWith,
  regex,
  exists,
  greater,
  less,
  cidr,
  always,
  input,
];

export const conditionsByName: ReadonlyMap<string, ConditionEntry> = new Map(
  conditions.map((entry) => [entry.name, entry]),
);
