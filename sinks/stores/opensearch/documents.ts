/** Documents by their ids: read in real time, replaced by compare-and-set, and tombstones. */
import { flatFault } from '../../../core/opensearch-client.js';
import type { DocumentUpdate, FoundDocument, TombstoneRequest } from '../contract.js';
import { storeErrors } from '../errors.js';
import { indexError, replaceEntry, wholeError } from './bulk.js';
import { idField, tombstoneField, writeAlias } from './mapping.js';
import { pathOf, sendExpecting, type Send } from './requests.js';

/** Documents asked for in one request. */
const pageSize = 1_000;

interface FoundItem {
  readonly _id: string;
  readonly found?: boolean;
  readonly _seq_no?: number;
  readonly _primary_term?: number;
  readonly _source?: Readonly<Record<string, unknown>>;
  readonly error?: object;
}

/** Reads by id, which needs no refresh. */
export async function readDocuments(
  send: Send,
  index: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, FoundDocument>> {
  const found = new Map<string, FoundDocument>();
  for (let from = 0; from < ids.length; from += pageSize) {
    const body = { ids: ids.slice(from, from + pageSize) };
    const reply = await sendExpecting(
      send,
      { method: 'POST', path: pathOf(index, '_mget'), query: { realtime: true }, body },
      index,
    );
    for (const item of (reply.body as { docs: readonly FoundItem[] }).docs) {
      if (item.error !== undefined) throw failure(404, item.error, index);
      if (item.found !== true) continue;
      const fields = Object.entries(item._source ?? {}).filter(([name]) => name !== idField && name !== tombstoneField);
      found.set(item._id, {
        document: Object.fromEntries(fields),
        revision: `${item._seq_no}/${item._primary_term}`,
        tombstone: item._source?.[tombstoneField] === true,
      });
    }
  }
  return found;
}

interface UpdatedItem {
  readonly index: {
    readonly status: number;
    readonly _seq_no?: number;
    readonly _primary_term?: number;
    readonly error?: object;
  };
}

const updateFilter = 'items.*.status,items.*._seq_no,items.*._primary_term,items.*.error';

export async function updateDocuments(
  send: Send,
  index: string,
  updates: readonly DocumentUpdate[],
): Promise<(string | undefined)[]> {
  if (updates.length === 0) return [];
  const lines = updates.map(({ id, document, expected }) => replaceEntry(id, document, expected));
  const request = {
    method: 'POST',
    path: pathOf(writeAlias(index), '_bulk'),
    query: { require_alias: true, filter_path: updateFilter },
    bulkBody: Buffer.from(lines.join('')),
  } as const;
  const reply = await sendExpecting(send, request, index);
  const { items } = reply.body as { items: readonly UpdatedItem[] };
  return items.map(({ index: item }) => {
    if (item.status < 300) return `${item._seq_no}/${item._primary_term}`;
    if (item.status === 409) return undefined;
    throw failure(item.status, item.error ?? {}, index);
  });
}

function failure(status: number, error: object, index: string): Error {
  const fault = flatFault(error);
  const known = indexError(status, fault, index);
  if (known !== undefined) return known;
  if (status === 400)
    return storeErrors.create('STORE_DOCUMENT_REFUSED', {
      place: index,
      got: `${fault.type}: ${fault.reason}`.slice(0, 500),
    });
  return wholeError(status, fault, index);
}

/** For each id, true when a tombstone stands there afterwards, false when it is the document itself. */
export async function writeTombstones(
  send: Send,
  index: string,
  tombstones: readonly TombstoneRequest[],
): Promise<boolean[]> {
  const stand: boolean[] = [];
  for (let from = 0; from < tombstones.length; from += pageSize)
    stand.push(...(await writeTombstonePage(send, index, tombstones.slice(from, from + pageSize))));
  return stand;
}

interface TombstoneItem {
  readonly create?: { readonly status: number; readonly error?: object };
  readonly index?: { readonly status: number; readonly error?: object };
}

async function writeTombstonePage(
  send: Send,
  index: string,
  tombstones: readonly TombstoneRequest[],
): Promise<boolean[]> {
  const bulkBody = Buffer.from(tombstones.map(tombstoneEntry).join(''));
  const reply = await sendExpecting(
    send,
    {
      method: 'POST',
      path: pathOf(writeAlias(index), '_bulk'),
      query: { require_alias: true, filter_path: updateFilter },
      bulkBody,
    },
    index,
  );
  const { items } = reply.body as { items: readonly TombstoneItem[] };
  if (items.length !== tombstones.length)
    throw storeErrors.create('STORE_UNAVAILABLE', {
      place: index,
      got: `${items.length} results for ${tombstones.length} stubs`,
    });
  const met = tombstones.filter((_, at) => {
    const { status, error } = items[at]?.create ?? items[at]?.index ?? { status: 0 };
    if (status >= 300 && status !== 409) throw wholeError(status, flatFault(error ?? {}), index);
    return status === 409;
  });
  const found =
    met.length === 0
      ? undefined
      : await readDocuments(
          send,
          index,
          met.map(({ id }) => id),
        );
  return tombstones.map(({ id }) => found?.get(id)?.tombstone ?? true);
}

function tombstoneEntry({ id, renews }: TombstoneRequest): string {
  const [sequence, term] = renews?.split('/') ?? [];
  const action =
    renews === undefined
      ? { create: { _id: id } }
      : { index: { _id: id, if_seq_no: Number(sequence), if_primary_term: Number(term) } };
  return `${JSON.stringify(action)}\n{"${tombstoneField}":true}\n`;
}
