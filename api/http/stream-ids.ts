/**
 * Streams have two names: the id of the rule files, and 24 hexadecimal characters in the shape that scripts expect.
 * Here they are told apart for those who ask.
 */
import { apiIdOf, findId } from '../../core/object-ids.js';
import { mayReadStream, type Identity } from '../../schemas/access.js';
import { failure } from './failure.js';
import type { ApiServices, Stream } from './services.js';

const known = new Map<string, string>();
/** Streams there can be; the table only saves hashing for each message of an answer. */
const maxKnown = 10_000;

export function streamHex(id: string): string {
  const kept = known.get(id);
  if (kept !== undefined) return kept;
  const hex = apiIdOf(id);
  if (known.size < maxKnown) known.set(id, hex);
  return hex;
}

/** By either name. */
export function findStream<Named extends Pick<Stream, 'id'>>(
  streams: readonly Named[],
  key: string,
): Named | undefined {
  const id = findId(
    streams.map((stream) => stream.id),
    /^[0-9a-f]{24}$/i.test(key) ? key.toLowerCase() : key,
  );
  return streams.find((stream) => stream.id === id);
}

/**
 * Ids for the search layer; undefined: all that may be read. One that is unknown and one that may not be read give the
 * same answer.
 */
export function readableStreams(
  { rules }: Pick<ApiServices, 'rules'>,
  identity: Identity,
  keys: readonly string[] | undefined | null,
): readonly string[] | undefined {
  if (keys === undefined || keys === null || keys.length === 0) return undefined;
  const streams = rules()?.streams ?? [];
  const found = keys.map((key) => ({ key, stream: findStream(streams, key) }));
  const missing = found
    .filter(({ stream }) => stream === undefined || !mayReadStream(identity.scope, stream.id))
    .map(({ key }) => key);
  if (missing.length > 0)
    throw failure('API_STREAM_FORBIDDEN', 'Not allowed: these streams cannot be read.', {
      body: { streams: missing },
    });
  return found.flatMap(({ stream }) => stream?.id ?? []);
}
