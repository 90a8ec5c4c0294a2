/** Which fields the documents of a query have: one question a field, each of which ends at its first hit. */
import { standardFields } from '../../../../schemas/index-fields.js';
import type { ScanRequest } from '../../../../schemas/query.js';
import { queryClause } from './ask.js';
import { fieldTypes } from '../indices.js';
import { compileQuery, typedFields } from './query.js';
import { indicesPath, sendExpecting, type Send } from '../requests.js';
import { groupTypes } from './search.js';
import { groupByTypes } from './type-groups.js';

/** Questions in one request. */
const fieldsAtOnce = 200;

export async function occurringFields(
  send: Send,
  request: Pick<ScanRequest, 'indices' | 'query' | 'from' | 'to' | 'signal'>,
): Promise<Set<string>> {
  const found = new Set<string>();
  for (const group of await groupByTypes(send, request.indices, [...typedFields(request.query)], request.signal)) {
    const typeOf = groupTypes(group);
    const names = new Set<string>(standardFields.keys());
    for (const index of group.indices) for (const name of (await fieldTypes(send, index)).keys()) names.add(name);
    const left = [...names].filter((name) => !found.has(name));
    for (let from = 0; from < left.length; from += fieldsAtOnce) {
      const asked = left.slice(from, from + fieldsAtOnce);
      const lines = asked.flatMap((field) => [
        { ignore_unavailable: true },
        {
          size: 0,
          terminate_after: 1,
          track_total_hits: 1,
          query: queryClause(request, typeOf, [compileQuery({ kind: 'exists', field }, typeOf)]),
        },
      ]);
      const path = indicesPath(group.indices, '_msearch');
      const reply = await sendExpecting(
        send,
        {
          method: 'POST',
          path,
          bulkBody: `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`,
          signal: request.signal,
          query: { filter_path: 'responses.hits.total' },
        },
        'fields',
      );
      const { responses } = reply.body as {
        readonly responses: readonly { readonly hits?: { readonly total?: { readonly value: number } } }[];
      };
      asked.forEach((field, at) => {
        if ((responses[at]?.hits?.total?.value ?? 0) > 0) found.add(field);
      });
    }
  }
  return found;
}
