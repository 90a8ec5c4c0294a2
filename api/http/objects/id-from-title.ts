/** Ids that are made from titles. */
import { randomBytes } from 'node:crypto';

/** An output's id is part of a topic's name; the others may be longer. */
const longest = 48;

/** Kebab-case, with a number behind it where `isTaken` knows it already. */
export function idFromTitle(title: string, fallback: string, isTaken: (id: string) => boolean): string {
  const words = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, longest)
    .replace(/-+$/, '');
  const base = words === '' ? fallback : words;
  if (!isTaken(base)) return base;
  for (let number = 2; number < 1_000; number += 1) if (!isTaken(`${base}-${number}`)) return `${base}-${number}`;
  return `${base}-${randomBytes(4).toString('hex')}`;
}
