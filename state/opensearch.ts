/**
 * State that several processes share, in one index of OpenSearch. Compare-and-set by sequence number and primary term.
 */
import {
  createOpenSearchClient,
  faultOf,
  type OpenSearchClient,
  type OpenSearchConnection,
  type OpenSearchReply,
  type OpenSearchRequest,
} from '../core/opensearch-client.js';
import { errorText } from '../core/errors.js';
import { formatVersions } from '../core/formats/versions.js';
import { bringUpToDate } from '../core/formats/migrate.js';
import { readStamp, stampOf } from '../core/formats/stamp.js';
import type { Log } from '../core/log.js';
import type { StateEntry, StateStore } from './contract.js';
import { stateErrors } from './errors.js';
import { createIndexWatch, type IndexWatch } from './opensearch-watch.js';

interface OpenSearchStateOptions extends OpenSearchConnection {
  /** `sluice-state` */
  readonly index: string;
  readonly log: Log;
}

/** The engine's limit of an id. */
const maxKeyBytes = 512;
const pageSize = 1_000;
const revisionPattern = /^(\d+)\.(\d+)$/;

export function createOpenSearchState(options: OpenSearchStateOptions): StateStore {
  return new OpenSearchState(options);
}

/** What the engine answers about one document. */
interface Stored {
  readonly _id: string;
  readonly _seq_no: number;
  readonly _primary_term: number;
  readonly _source?: { readonly value: string };
}

const settings = { number_of_shards: 1, auto_expand_replicas: '0-1', hidden: true, refresh_interval: '1s' };
const mappings = {
  dynamic: false,
  _meta: { sluice: stampOf(formatVersions.stateIndex) },
  properties: { key: { type: 'keyword' }, value: { type: 'keyword', index: false, doc_values: false } },
};

class OpenSearchState implements StateStore {
  readonly #options: OpenSearchStateOptions;
  readonly #path: string;
  readonly #writePath: string;
  #client: OpenSearchClient | undefined;
  #watch: IndexWatch | undefined;

  constructor(options: OpenSearchStateOptions) {
    this.#options = options;
    this.#path = `/${encodeURIComponent(options.index)}`;
    this.#writePath = `/${encodeURIComponent(this.#alias())}`;
  }

  /**
   * Exists only as long as the index: a write after the index was deleted cannot create it again, without its mapping.
   */
  #alias(): string {
    return `only-${this.#options.index}`;
  }

  async start(): Promise<void> {
    if (this.#client !== undefined) return;
    const client = createOpenSearchClient(this.#options);
    this.#client = client;
    try {
      const reply = await this.#send({
        method: 'PUT',
        path: this.#path,
        body: { settings, mappings, aliases: { [this.#alias()]: { is_hidden: true } } },
      });
      if (reply.status >= 300 && faultOf(reply).type !== 'resource_already_exists_exception')
        throw this.#unexpected(reply);
      await this.#expect({
        method: 'GET',
        path: `/_cluster/health${this.#path}`,
        query: { wait_for_status: 'yellow', timeout: '10s' },
      });
      await this.#bringUpToDate();
      this.#watch = await createIndexWatch({
        log: this.#options.log,
        place: this.#options.index,
        newest: () => this.#newest(),
        list: (prefix) => this.list(prefix),
        sequenceOf: (entry) => Number(entry.revision.split('.')[0]),
      });
    } catch (thrown) {
      this.#client = undefined;
      await client.close();
      throw thrown;
    }
  }

  /**
   * Mappings have no compare-and-set; processes that stamp at the same time write what each of them may, the newest
   * again at its next start.
   */
  async #bringUpToDate(): Promise<void> {
    const place = `OpenSearch index ${this.#options.index} (_meta.sluice)`;
    let meta: { readonly sluice?: unknown } = {};
    const read = async () => {
      const reply = await this.#expect({ method: 'GET', path: `${this.#path}/_mapping` });
      const [found] = Object.values(
        reply.body as Record<string, { readonly mappings?: { readonly _meta?: typeof meta } }>,
      );
      meta = found?.mappings?._meta ?? {};
      return readStamp(meta.sluice, place);
    };
    const write = async (stamp: object) => {
      await this.#expect({
        method: 'PUT',
        path: `${this.#path}/_mapping`,
        body: { _meta: { ...meta, sluice: stamp } },
      });
      return true;
    };
    const stamps = { place, read, write };
    await bringUpToDate({ format: formatVersions.stateIndex, stamps, steps: {}, log: this.#options.log });
  }

  async stop(): Promise<void> {
    this.#watch?.stop();
    this.#watch = undefined;
    const client = this.#client;
    this.#client = undefined;
    await client?.close();
  }

  async get(key: string): Promise<StateEntry | undefined> {
    const reply = await this.#expect({ method: 'GET', path: `${this.#path}/_doc/${encodeURIComponent(key)}` }, [404]);
    const found = reply.body as Stored & { readonly found?: boolean };
    if (reply.status === 404 && found.found === undefined) throw this.#unexpected(reply);
    return found.found === true ? entryOf(found) : undefined;
  }

  async put(key: string, value: unknown, expected: string | undefined): Promise<StateEntry> {
    this.#running();
    checkKey(key);
    const text: string | undefined = JSON.stringify(value);
    if (text === undefined) throw stateErrors.create('STATE_VALUE_INVALID', { place: key, got: typeof value });
    const operation = expected === undefined ? '_create' : '_doc';
    const reply = await this.#expect(
      {
        method: 'PUT',
        path: `${this.#writePath}/${operation}/${encodeURIComponent(key)}`,
        query: { require_alias: true, ...(expected === undefined ? {} : conditionOf(key, expected)) },
        body: { key, value: text },
      },
      [409],
    );
    if (reply.status === 409) throw conflict(key, expected);
    return entryOf({ ...(reply.body as Stored), _source: { value: text } });
  }

  async list(prefix: string): Promise<readonly StateEntry[]> {
    await this.#expect({ method: 'POST', path: `${this.#path}/_refresh` });
    const entries: StateEntry[] = [];
    for (let after: string | undefined; ; ) {
      const reply = await this.#expect({
        method: 'POST',
        path: `${this.#path}/_search`,
        query: { allow_partial_search_results: false },
        body: {
          size: pageSize,
          sort: ['key'],
          seq_no_primary_term: true,
          query: { prefix: { key: { value: prefix } } },
          ...(after === undefined ? {} : { search_after: [after] }),
        },
      });
      const { hits } = (reply.body as { hits: { hits: readonly Stored[] } }).hits;
      for (const hit of hits) entries.push(entryOf(hit));
      after = hits.at(-1)?._id;
      if (hits.length < pageSize) return entries;
    }
  }

  async delete(key: string, expected: string): Promise<void> {
    this.#running();
    const reply = await this.#expect(
      { method: 'DELETE', path: `${this.#path}/_doc/${encodeURIComponent(key)}`, query: conditionOf(key, expected) },
      [404, 409],
    );
    if (reply.status === 404 && (reply.body as { result?: string }).result === undefined) throw this.#unexpected(reply);
    if (reply.status >= 400) throw conflict(key, expected);
  }

  watch(prefix: string, onChange: () => void): () => void {
    if (this.#watch === undefined) throw stateErrors.create('STATE_NOT_STARTED');
    return this.#watch.add(prefix, onChange);
  }

  /** Every put and every delete takes the next sequence number. */
  async #newest(): Promise<number> {
    const reply = await this.#expect({
      method: 'GET',
      path: `${this.#path}/_stats/docs`,
      query: { level: 'shards', filter_path: 'indices.*.shards.*.seq_no.max_seq_no' },
    });
    const { indices = {} } = reply.body as {
      indices?: Record<string, { shards: Record<string, { seq_no: { max_seq_no: number } }[]> }>;
    };
    const copies = Object.values(indices).flatMap((index) => Object.values(index.shards).flat());
    return Math.max(-1, ...copies.map((copy) => copy.seq_no.max_seq_no));
  }

  async #expect(request: OpenSearchRequest, allowed: readonly number[] = []): Promise<OpenSearchReply> {
    const reply = await this.#send(request);
    if (reply.status < 300 || allowed.includes(reply.status)) return reply;
    throw this.#unexpected(reply);
  }

  async #send(request: OpenSearchRequest): Promise<OpenSearchReply> {
    const client = this.#running();
    try {
      return await client.request(request);
    } catch (thrown) {
      throw stateErrors.create('STATE_UNAVAILABLE', {
        place: this.#options.index,
        got: errorText(thrown),
        cause: thrown,
      });
    }
  }

  #running(): OpenSearchClient {
    if (this.#client === undefined) throw stateErrors.create('STATE_NOT_STARTED');
    return this.#client;
  }

  #unexpected(reply: OpenSearchReply): Error {
    const { type, reason } = faultOf(reply);
    return stateErrors.create('STATE_UNAVAILABLE', {
      place: this.#options.index,
      got: `${reply.status} ${type}: ${reason}`.slice(0, 500),
    });
  }
}

function entryOf(stored: Stored): StateEntry {
  return {
    key: stored._id,
    value: JSON.parse(stored._source?.value ?? 'null') as unknown,
    revision: `${stored._seq_no}.${stored._primary_term}`,
  };
}

function conditionOf(key: string, revision: string): { if_seq_no: string; if_primary_term: string } {
  const [, sequence, term] = revisionPattern.exec(revision) ?? [];
  if (sequence === undefined || term === undefined) throw conflict(key, revision);
  return { if_seq_no: sequence, if_primary_term: term };
}

function conflict(key: string, expected: string | undefined): Error {
  return stateErrors.create('STATE_CONFLICT', {
    place: key,
    got: 'another revision',
    allowed: `revision ${expected ?? 'none'}`,
  });
}

function checkKey(key: string): void {
  const bytes = Buffer.byteLength(key);
  if (bytes === 0 || bytes > maxKeyBytes)
    throw stateErrors.create('STATE_KEY_INVALID', { got: `${bytes} bytes`, allowed: `1 to ${maxKeyBytes} bytes` });
}
