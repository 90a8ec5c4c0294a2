/** Creating, listing and looking at indices. */
import { formatVersions } from '../../../core/formats/versions.js';
import { judgeStamp, readStamp } from '../../../core/formats/stamp.js';
import { faultOf } from '../../../core/opensearch-client.js';
import { storeErrors } from '../errors.js';
import { indexNameRule, indexPattern, indicesOf, isIndexName } from '../../../schemas/index-names.js';
import type { FieldType, IndexInfo, IndexOptions } from '../contract.js';
import { flatTypes, indexBody, tombstoneField, writeAlias, type IndexLimits, type MappedField } from './mapping.js';
import { pathOf, sendExpecting, type Send } from './requests.js';
import { wholeError } from './bulk.js';

export async function createIndex(send: Send, name: string, options: IndexOptions, limits: IndexLimits): Promise<void> {
  if (!isIndexName(name))
    throw storeErrors.create('STORE_INDEX_NAME_INVALID', {
      got: name,
      allowed: indexNameRule,
    });
  const reply = await send({ method: 'PUT', path: pathOf(name), body: indexBody(name, options, limits) }, name);
  if (reply.status >= 300) {
    const fault = faultOf(reply);
    if (fault.type !== 'resource_already_exists_exception') throw wholeError(reply.status, fault, name);
    await readMapping(send, name);
    await addAliases(send, name, options);
  }
  await untilWritable(send, name);
}

/**
 * `disable_objects` came with 3.5; before 3.8 it hid `a.b` beside `a` from searches (OpenSearch pull request 21929).
 */
const flatNamesSince = [3, 8] as const;

export async function takesFlatNames(send: Send): Promise<boolean> {
  const reply = await sendExpecting(send, { method: 'GET', path: '/' }, 'version');
  const [major = 0, minor = 0] = ((reply.body as { version?: { number?: string } }).version?.number ?? '')
    .split('.')
    .map(Number);
  return major > flatNamesSince[0] || (major === flatNamesSince[0] && minor >= flatNamesSince[1]);
}

/** An index that was there already, half created or restored from elsewhere, gets its names again. */
async function addAliases(send: Send, name: string, options: IndexOptions): Promise<void> {
  const add = (alias: string) => ({ add: { index: name, alias } });
  await sendExpecting(
    send,
    { method: 'POST', path: '/_aliases', body: { actions: [add(options.alias), add(writeAlias(name))] } },
    name,
  );
}

/** Yellow: every primary shard is there. A closed index answers too. */
async function untilWritable(send: Send, name: string): Promise<void> {
  const reply = await sendExpecting(
    send,
    { method: 'GET', path: pathOf('_cluster', 'health', name), query: { wait_for_status: 'yellow', timeout: '10s' } },
    name,
    [408],
  );
  if (reply.status === 408)
    throw storeErrors.create('STORE_UNAVAILABLE', { place: name, got: 'no active primary shard within 10 s' });
}

interface CatIndex {
  readonly index: string;
  readonly status: string;
  readonly 'docs.count': string | null;
  readonly 'pri.store.size': string | null;
  readonly 'creation.date': string;
}

export async function listIndices(send: Send, prefix: string): Promise<IndexInfo[]> {
  const pattern = indexPattern(prefix);
  const reply = await sendExpecting(
    send,
    {
      method: 'GET',
      path: `/_cat/indices/${encodeURIComponent(pattern)}`,
      query: {
        format: 'json',
        bytes: 'b',
        expand_wildcards: 'all',
        h: 'index,status,docs.count,pri.store.size,creation.date',
      },
    },
    pattern,
    [404],
  );
  if (reply.status === 404) return [];
  const found = indicesOf(prefix, reply.body as readonly CatIndex[], (one) => one.index);
  if (found.length === 0) return [];
  const tombstones = await countTombstones(send, pattern);
  const closed = found.some((one) => one.status !== 'open')
    ? await closedBytes(send, pattern)
    : new Map<string, number>();
  return found.map((one) => ({
    name: one.index,
    open: one.status === 'open',
    bytes: Number(one['pri.store.size'] ?? closed.get(one.index) ?? 0),
    createdAt: Number(one['creation.date']),
    documents: Math.max(0, Number(one['docs.count'] ?? 0) - (tombstones.get(one.index) ?? 0)),
  }));
}

/** By the names alone: what searches ask before each of them. */
export async function openIndices(send: Send, prefixes: readonly string[]): Promise<string[]> {
  if (prefixes.length === 0) return [];
  const reply = await sendExpecting(
    send,
    {
      method: 'GET',
      path: `/_resolve/index/${prefixes.map((prefix) => encodeURIComponent(indexPattern(prefix))).join(',')}`,
      query: { expand_wildcards: 'open' },
    },
    prefixes.join(','),
    [404],
  );
  if (reply.status === 404) return [];
  const names = (reply.body as { readonly indices: readonly { readonly name: string }[] }).indices.map(
    ({ name }) => name,
  );
  return prefixes.flatMap((prefix) => indicesOf(prefix, names, (name) => name));
}

/** The list knows no sizes of closed indices; the statistics do, once their shards have been closed. */
async function closedBytes(send: Send, pattern: string): Promise<ReadonlyMap<string, number>> {
  const query = {
    expand_wildcards: 'closed',
    forbid_closed_indices: false,
    filter_path: 'indices.*.primaries.store.size_in_bytes',
  };
  const reply = await sendExpecting(
    send,
    { method: 'GET', path: `/${encodeURIComponent(pattern)}/_stats/store`, query },
    pattern,
  );
  const { indices = {} } = reply.body as {
    indices?: Record<string, { primaries?: { store?: { size_in_bytes: number } } }>;
  };
  return new Map(Object.entries(indices).map(([name, { primaries }]) => [name, primaries?.store?.size_in_bytes ?? 0]));
}

/** Most indices have none; a set has far fewer than 1,000 indices. */
async function countTombstones(send: Send, pattern: string): Promise<ReadonlyMap<string, number>> {
  const reply = await sendExpecting(
    send,
    {
      method: 'POST',
      path: `/${encodeURIComponent(pattern)}/_search`,
      query: { ignore_unavailable: true, expand_wildcards: 'open' },
      body: {
        size: 0,
        query: { exists: { field: tombstoneField } },
        aggs: { indices: { terms: { field: '_index', size: 1_000 } } },
      },
    },
    pattern,
  );
  const { aggregations } = reply.body as {
    aggregations?: { indices: { buckets: readonly { key: string; doc_count: number }[] } };
  };
  return new Map((aggregations?.indices.buckets ?? []).map((bucket) => [bucket.key, bucket.doc_count]));
}

export async function fieldTypes(send: Send, index: string): Promise<ReadonlyMap<string, FieldType>> {
  return flatTypes((await readMapping(send, index)).properties ?? {});
}

interface Mapping {
  readonly properties?: Readonly<Record<string, MappedField>>;
  readonly _meta?: { readonly sluice?: unknown };
}

/** Throws FORMAT_NEWER for an index that this program would write to in a wrong way. */
async function readMapping(send: Send, index: string): Promise<Mapping> {
  const reply = await sendExpecting(send, { method: 'GET', path: pathOf(index, '_mapping') }, index);
  const mapping = (reply.body as Record<string, { readonly mappings: Mapping }>)[index]?.mappings ?? {};
  const place = `OpenSearch index ${index} (_meta.sluice)`;
  const verdict = judgeStamp(formatVersions.searchIndex, readStamp(mapping._meta?.sluice, place), place);
  if (verdict.kind === 'refused') throw verdict.error;
  return mapping;
}
