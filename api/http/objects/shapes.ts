/** Shapes that several kinds of objects share. */
import { Type, type TSchema } from 'typebox';
import { apiIdOf } from '../../../core/object-ids.js';
import type { CatalogItem } from '../../../definitions/contract.js';

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
export const nothing = Type.Null({ description: 'No body.' });
export const objectId = (description: string) =>
  Type.String({
    description: `${description} 24 hexadecimal characters, or the name as in rule files.`,
    minLength: 1,
    maxLength: 200,
  });

/** Where an object comes from, in every answer. */
export const originFields = {
  name: Type.String({ description: 'The id as rule files know it.' }),
  origin: Type.Enum(['shipped', 'file', 'api'], {
    description:
      'shipped: comes with the program, can be changed. file: stands in a file of the operator, is changed there. api: made here.',
  }),
  file: nullable(Type.String({ description: 'Of origin file: which one.' })),
  problem: nullable(Type.String({ description: 'Why it is left out of the rules at the moment.' })),
  created_at: nullable(Type.String({ description: 'ISO 8601; null unless it was made or changed here.' })),
  creator_user_id: Type.String({ description: 'User name; empty unless it was made or changed here.' }),
};

export function originOf({ id, origin, file, problem, stored }: CatalogItem) {
  return {
    id: apiIdOf(id),
    name: id,
    origin,
    file: file ?? null,
    problem: problem ?? null,
    created_at: stored?.created_at ?? null,
    creator_user_id: stored?.created_by ?? '',
  };
}

/** Settings of rule files are checked already; texts and flags have defaults. */
export const textOf = (value: unknown, otherwise = ''): string => (typeof value === 'string' ? value : otherwise);
export const flagOf = (value: unknown, otherwise = false): boolean => (typeof value === 'boolean' ? value : otherwise);
export const listOf = <Item>(value: unknown): readonly Item[] =>
  Array.isArray(value) ? (value as readonly Item[]) : [];

/** Without members that are undefined. */
export function given(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
