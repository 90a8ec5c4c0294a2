/** A search layer over documents in memory, matched by plain code. */
import type { SearchScope } from '../../../../schemas/access.js';
import type { SearchHit } from '../../../../schemas/query.js';
import { aggregateDocuments } from '../../../../search/reference/aggregate.js';
import type { Searcher, SearchQuestion } from '../../../../search/contract.js';
import { compileQuery } from '../../../../search/reference/evaluate.js';
import { parseQuery } from '../../../../search/language/parser.js';
import { isQueryProblem, queryError } from '../../../../search/language/problem.js';
import { scopedQuery, withoutHiddenStreams } from '../../../../search/plan/scope.js';

type Document = Readonly<Record<string, unknown>>;

export function document(at: number, message: string, more: Document = {}): Document {
  return {
    timestamp: new Date(at).toISOString(),
    message,
    source: 'host-1',
    level: 6,
    streams: ['all-messages'],
    ...more,
  };
}

export interface MemorySearcher extends Searcher {
  readonly asked: SearchQuestion[];
  /** Ended readers of `tail` and `rows`. */
  readonly ended: () => number;
}

/** Ids are `m0`, `m1`, ... by place; all in the index `sluice_default_0`. Newest first unless a sort is given. */
export function createMemorySearcher(documents: readonly Document[]): MemorySearcher {
  const asked: SearchQuestion[] = [];
  let ended = 0;
  const nodeOf = (request: SearchQuestion, scope: SearchScope) => {
    asked.push(request);
    const query = parseQuery(request.query);
    if (isQueryProblem(query)) throw queryError(query);
    return scopedQuery(query, scope, request.streams);
  };
  const find = (
    request: SearchQuestion & {
      readonly sort?: { readonly field: string; readonly direction: 'asc' | 'desc' } | undefined;
      readonly fields?: readonly string[] | undefined;
    },
    scope: SearchScope,
  ): SearchHit[] => {
    const matches = compileQuery(nodeOf(request, scope));
    const { field, direction } = request.sort ?? { field: 'timestamp', direction: 'desc' as const };
    const sign = direction === 'asc' ? 1 : -1;
    return documents
      .map((one, at): SearchHit => ({ _id: `m${at}`, _index: 'sluice_default_0', document: one }))
      .filter(({ document: one }) => {
        const time = Date.parse(String(one['timestamp']));
        return matches(one) && time >= (request.from ?? -Infinity) && time < (request.to ?? Infinity);
      })
      .map((hit) => withoutHiddenStreams(hit, scope))
      .sort((one, other) => String(one.document[field]).localeCompare(String(other.document[field])) * sign)
      .map((hit) =>
        request.fields === undefined
          ? hit
          : {
              ...hit,
              document: Object.fromEntries(
                Object.entries(hit.document).filter(([name]) => request.fields?.includes(name)),
              ),
            },
      );
  };
  return {
    asked,
    ended: () => ended,
    async messages(request, { scope, signal }) {
      signal?.throwIfAborted();
      const found = find(request, scope);
      const { offset = 0, limit } = request;
      return { total: found.length, messages: found.slice(offset, offset + limit), failures: [], tookMs: 1 };
    },
    async aggregate({ aggregate, ...question }, { scope }) {
      return {
        ...aggregateDocuments(documents, {
          ...aggregate,
          from: question.from,
          to: question.to,
          query: nodeOf(question, scope),
        }),
        skipped: [],
        failures: [],
        tookMs: 1,
      };
    },
    async *rows(request, { scope, signal }) {
      try {
        const found = find(request, scope).slice(0, request.limit);
        for (let at = 0; at < found.length; at += 100) {
          signal?.throwIfAborted();
          yield found.slice(at, at + 100);
          await new Promise((resolve) => setImmediate(resolve));
        }
      } finally {
        ended += 1;
      }
    },
    async *tail(request, { scope, signal }) {
      try {
        yield find({ ...request, sort: { field: 'timestamp', direction: 'asc' } }, scope);
        await new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }));
      } finally {
        ended += 1;
      }
    },
    async message(index, id, scope) {
      return find({ query: '' }, scope).find((hit) => hit._index === index && hit._id === id);
    },
    fields: async () =>
      new Map([
        ['message', 'text'],
        ['level', 'number'],
        ['timestamp', 'time'],
        ['source', 'string'],
      ] as const),
  };
}
