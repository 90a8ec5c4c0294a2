/** Requests of the store: whatever is not expected becomes a typed error. */
import { last } from '../../../core/at.js';
import {
  faultOf,
  OpenSearchNoAnswer,
  type OpenSearchClient,
  type OpenSearchReply,
  type OpenSearchRequest,
} from '../../../core/opensearch-client.js';
import { storeErrors } from '../errors.js';
import { wholeError } from './bulk.js';

export type Send = (request: OpenSearchRequest, place: string) => Promise<OpenSearchReply>;

/** Adds the error for a request without an answer. */
export function createSend(client: OpenSearchClient): Send {
  return async (request, place) => {
    try {
      return await client.request(request);
    } catch (thrown) {
      if (thrown instanceof OpenSearchNoAnswer && thrown.aborted)
        throw storeErrors.create('STORE_SEARCH_CANCELLED', { place, cause: thrown });
      throw storeErrors.create('STORE_UNAVAILABLE', {
        place,
        got: thrown instanceof Error ? thrown.message : String(thrown),
        cause: thrown,
      });
    }
  };
}

/** Sends and expects success, or one of the allowed statuses. */
export async function sendExpecting(
  send: Send,
  request: OpenSearchRequest,
  place: string,
  allowed: readonly number[] = [],
): Promise<OpenSearchReply> {
  const reply = await send(request, place);
  if (reply.status < 300 || allowed.includes(reply.status)) return reply;
  throw wholeError(reply.status, faultOf(reply), place);
}

export function pathOf(...parts: readonly string[]): string {
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

/** Index names in one path, as the engine takes them: commas stay. */
export function indicesPath(indices: readonly string[], rest: string): string {
  return `/${indices.map(encodeURIComponent).join(',')}/${rest}`;
}

/** A request line may be 4,096 bytes long. */
const maxNamesLength = 3_000;

/** Cuts a list of index names into lists that fit a request line. */
export function chunkNames(indices: readonly string[]): string[][] {
  const chunks: string[][] = [];
  let length = maxNamesLength;
  for (const index of indices) {
    if (length + index.length + 1 > maxNamesLength) {
      chunks.push([]);
      length = 0;
    }
    last(chunks).push(index);
    length += index.length + 1;
  }
  return chunks;
}
