/**
 * Names and types of fields, and which of them a restricted scope may know of: those that occur in messages it can
 * read.
 */
import { LRUCache } from 'lru-cache';
import type { SearchScope } from '../../schemas/access.js';
import { planSearch } from '../plan/plan.js';
import { runSearch } from './turn.js';
import type { SearchContext } from './context.js';
import type { FieldType, FieldTypes } from '../contract.js';

type KnownFields = (scope: SearchScope) => Promise<FieldTypes>;

/** A new field is offered after this long. */
const freshMs = 30_000;
const scopesKept = 200;
/** Fields of indices that are never offered. */
const hidden: ReadonlySet<string> = new Set(['other_fields']);

export function createKnownFields(context: SearchContext): KnownFields {
  const cache = new LRUCache<string, Promise<FieldTypes>>({ max: scopesKept, ttl: freshMs });
  return (scope) => {
    const key = JSON.stringify([scope.streams === 'all' ? 'all' : [...scope.streams].sort(), [...scope.except].sort()]);
    const kept = cache.get(key);
    if (kept !== undefined) return kept;
    const found = findFields(context, scope);
    cache.set(key, found);
    found.catch(() => cache.delete(key));
    return found;
  };
}

function findFields(context: SearchContext, scope: SearchScope): Promise<FieldTypes> {
  return runSearch(context, 'fields', {}, async (turn) => {
    const plan = await planSearch(context, { query: '' }, scope);
    const types = await typesOf(context, plan.indices);
    const restricted = scope.streams !== 'all' || scope.except.length > 0;
    if (!restricted || types.size === 0) return types;
    const occurring = await context.store.queries.occurringFields({ ...plan, ...turn });
    return new Map([...types].filter(([name]) => occurring.has(name)));
  });
}

/** The newest index decides the type. */
async function typesOf(context: SearchContext, indices: readonly string[]): Promise<FieldTypes> {
  const types = new Map<string, FieldType>();
  for (const index of indices) {
    const found = await context.store.indices.fieldTypes(index).catch(() => new Map<string, FieldType>());
    for (const [name, type] of found) if (!hidden.has(name)) types.set(name, type);
  }
  return types;
}
