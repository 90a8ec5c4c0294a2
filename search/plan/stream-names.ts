/**
 * Streams have two names (`core/object-ids.ts`): messages keep the id of the rule files, answers of the API show the
 * other. A query may name either.
 */
import { apiIdOf } from '../../core/object-ids.js';
import type { QueryNode } from '../../schemas/query.js';
import { mapClauses } from '../language/tree.js';

export const streamsField = 'streams';

const shownName = /^[0-9a-f]{24}$/i;

/** Every stream that is named as the API shows it, by the id that messages have. `streams`: ids of those there are. */
export function nameStreams(query: QueryNode, streams: () => readonly string[]): QueryNode {
  let idsByShown: ReadonlyMap<string, string> | undefined;
  return mapClauses(query, (clause) => {
    if (
      clause.field !== streamsField ||
      (clause.kind !== 'term' && clause.kind !== 'phrase') ||
      !shownName.test(clause.text)
    )
      return clause;
    const ids = streams();
    if (ids.includes(clause.text)) return clause;
    idsByShown ??= new Map(ids.map((id) => [apiIdOf(id), id]));
    const id = idsByShown.get(clause.text.toLowerCase());
    return id === undefined ? clause : { ...clause, text: id };
  });
}
