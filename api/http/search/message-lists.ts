/** Search type `messages`: rows of a search. */
import type { SearchHit } from '../../../schemas/query.js';
import { streamHex } from '../stream-ids.js';
import { askedBy, type AskedType, type Context } from './questions.js';
import { messageSort } from './sort-keys.js';

const defaultLimit = 150;

interface MessageRow {
  readonly message: Readonly<Record<string, unknown>>;
  readonly index: string;
  readonly highlight_ranges: Readonly<Record<string, never>>;
  readonly decoration_stats: null;
}

/** Streams under the names that the API shows. */
export function messageRow(hit: SearchHit): MessageRow {
  const { streams, ...fields } = hit.document;
  const shown = Array.isArray(streams) ? { streams: (streams as unknown[]).map((id) => streamHex(String(id))) } : {};
  return {
    message: { ...fields, ...shown, _id: hit._id },
    index: hit._index,
    highlight_ranges: {},
    decoration_stats: null,
  };
}

export async function messageList(
  context: Context,
  { query, type, override, counted }: AskedType,
): Promise<Readonly<Record<string, unknown>>> {
  const { question, effective } = askedBy(context, query, type, override);
  const {
    services: { searcher },
    identity,
    signal,
    deadlineMs,
  } = context;
  const options = { scope: identity.scope, signal, fairnessKey: identity.username, deadlineMs };
  const answer = await searcher.messages(
    {
      ...question,
      count: counted === undefined,
      limit: override?.limit ?? type.limit ?? defaultLimit,
      offset: override?.offset ?? type.offset ?? 0,
      sort: messageSort(type.sort),
      fields: type.fields === null || type.fields?.length === 0 ? undefined : type.fields,
    },
    options,
  );
  const total =
    counted === undefined
      ? answer.total
      : ((await counted) ?? (await searcher.messages({ ...question, limit: 0 }, options)).total);
  return {
    id: type.id,
    ...(type.name === undefined ? {} : { name: type.name }),
    type: 'messages',
    messages: answer.messages.map(messageRow),
    total_results: total,
    effective_timerange: effective,
    ...failuresOf(answer.failures),
  };
}

/** Indices that did not answer: the rest is a part. */
export function failuresOf(
  failures: readonly { readonly index: string; readonly reason: string }[] | undefined,
): Readonly<Record<string, unknown>> {
  return failures === undefined || failures.length === 0
    ? {}
    : { partial: true, failures: failures.map(({ index, reason }) => ({ index, reason })) };
}
