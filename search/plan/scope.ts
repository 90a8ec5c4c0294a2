/**
 * What a scope lets through. It is added to every question here, whatever the caller has checked before: a message is
 * found when one of its streams may be read and none of them is excepted.
 */
import { mayReadStream, type SearchScope } from '../../schemas/access.js';
import type { QueryNode, SearchHit } from '../../schemas/query.js';
import { compileQuery } from '../reference/evaluate.js';
import { streamsField } from './stream-names.js';
import { and, mapClauses, none, not, or } from '../language/tree.js';

function inStream(id: string): QueryNode {
  return { kind: 'term', field: streamsField, text: id };
}

/** The streams that are searched; `all` where the scope names none and nobody asked for some. */
function searchedStreams(scope: SearchScope, wanted: readonly string[] | undefined): 'all' | readonly string[] {
  if (wanted !== undefined) return [...new Set(wanted)].filter((id) => mayReadStream(scope, id));
  return scope.streams === 'all' ? 'all' : scope.streams.filter((id) => mayReadStream(scope, id));
}

export function scopedQuery(query: QueryNode, scope: SearchScope, wanted: readonly string[] | undefined): QueryNode {
  const streams = searchedStreams(scope, wanted);
  const within = streams === 'all' ? [] : [streams.length === 0 ? none : or(streams.map(inStream))];
  return and([hideStreams(query, scope), ...within, not(or(scope.except.map(inStream)))]);
}

/**
 * Clauses on the streams of a message see the readable ones only: otherwise they would tell which others a message is
 * in.
 */
function hideStreams(query: QueryNode, scope: SearchScope): QueryNode {
  if (scope.streams === 'all') return query;
  return mapClauses(query, (clause) => {
    if (clause.field !== streamsField) return clause;
    const matches = compileQuery(clause);
    return or(
      readableStreams(scope)
        .filter((id) => matches({ [streamsField]: [id] }))
        .map(inStream),
    );
  });
}

/** Undefined: every stream that is not excepted. */
export function readableStreams(scope: SearchScope): readonly string[] {
  return scope.streams === 'all' ? [] : scope.streams.filter((id) => mayReadStream(scope, id));
}

/** Whether the scope sees this document. */
export function isVisible(document: Readonly<Record<string, unknown>>, scope: SearchScope): boolean {
  return compileQuery(scopedQuery({ kind: 'all' }, scope, undefined))(document);
}

export function withoutHiddenStreams(hit: SearchHit, scope: SearchScope): SearchHit {
  const streams = hit.document[streamsField];
  if (!Array.isArray(streams)) return hit;
  const shown = (streams as unknown[]).filter((id) => typeof id === 'string' && mayReadStream(scope, id));
  return shown.length === streams.length ? hit : { ...hit, document: { ...hit.document, [streamsField]: shown } };
}
