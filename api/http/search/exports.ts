/**
 * CSV exports: rows as they are read, one batch at a time, with progress, until the end, the limit or the client's
 * leaving.
 */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { csvLines } from '../../../core/csv.js';
import { errorText } from '../../../core/errors.js';
import { buildMetrics, type BuiltMetrics } from '../../../core/metrics.js';
import { timeFields } from '../../../schemas/index-fields.js';
import type { SearchHit } from '../../../schemas/query.js';
import type { SearchQuestion } from '../../../search/contract.js';
import { failure } from '../failure.js';
import { apiMetrics } from '../metrics.js';
import { createSharedWork, type SharedWork } from '../objects/long-work/shared-work.js';
import { sharedStateOf, type ApiServices } from '../services.js';
import { zoneShift } from './times/time-zones.js';
import { messageRow } from './message-lists.js';
import { apiEvents } from '../../events.js';

export interface ExportRequest {
  readonly question: SearchQuestion;
  readonly fields: readonly string[];
  readonly limit?: number | undefined;
  readonly sort?: { readonly field: string; readonly direction: 'asc' | 'desc' } | undefined;
  /** IANA name; times are written with its offset. Default: UTC with Z. */
  readonly timeZone?: string | undefined;
}

interface ExportState {
  readonly id: string;
  readonly owner: string;
  readonly owner_id: string;
  readonly query: string;
  readonly started_at: string;
  rows: number;
  /** Undefined: not counted yet. */
  total: number | undefined;
}

export interface Exports {
  /**
   * Answers the request with a stream. What goes wrong before the first row is an answer of its own; after it, the
   * connection is cut.
   */
  send(request: FastifyRequest, reply: FastifyReply, wanted: ExportRequest): Promise<FastifyReply>;
  /** Exports of every process; those of other processes as they were a few seconds ago. */
  list(): Promise<readonly ExportState[]>;
  cancel(id: string): Promise<void>;
  stop(): void;
}

const streamBufferBytes = 64 * 1024;

const known = new WeakMap<ApiServices, Exports>();

/** All routes share one list and one limit. */
export function exportsOf(services: ApiServices): Exports {
  const exports = known.get(services) ?? createExports(services);
  known.set(services, exports);
  return exports;
}

function createExports(services: ApiServices): Exports {
  return new CsvExports(services);
}

class CsvExports implements Exports {
  readonly #services: ApiServices;
  readonly #metrics: BuiltMetrics<typeof apiMetrics>;
  readonly #running = new Map<string, { readonly state: ExportState; readonly ending: AbortController }>();
  readonly #shared: SharedWork<ExportState>;

  constructor(services: ApiServices) {
    this.#services = services;
    this.#metrics = buildMetrics(services.registry, apiMetrics);
    this.#shared = createSharedWork<ExportState>({
      state: sharedStateOf(services),
      prefix: 'exports/',
      retainedMs: 0,
      log: services.log,
    });
  }

  async send(request: FastifyRequest, reply: FastifyReply, wanted: ExportRequest): Promise<FastifyReply> {
    const { max_exports: most } = this.#services.config.api;
    if (this.#running.size >= most)
      throw failure('API_BUSY', `${most} exports are under way already (api.max_exports); try again later.`, {
        headers: { 'retry-after': '10' },
      });
    const { state, ending } = this.#begin(request, wanted);
    reply.raw.once('close', () => ending.abort());
    try {
      const stream = await this.#open(request, wanted, state, ending.signal);
      return await reply
        .headers({
          'content-type': 'text/csv; charset=utf-8',
          'content-disposition': 'attachment; filename="search-result.csv"',
          'x-export-id': state.id,
        })
        .send(stream);
    } catch (error) {
      this.#finish(state);
      throw error;
    }
  }

  async list(): Promise<readonly ExportState[]> {
    const others = (await this.#shared.others()).filter(({ lost }) => !lost).map(({ shown }) => shown);
    return [...[...this.#running.values()].map(({ state }) => state), ...others];
  }

  async cancel(id: string): Promise<void> {
    const own = this.#running.get(id);
    if (own === undefined) await this.#shared.cancel(id);
    else own.ending.abort();
  }

  stop(): void {
    this.#shared.stop();
    this.#running.forEach(({ ending }) => ending.abort());
  }

  #begin(
    request: FastifyRequest,
    { question, fields }: ExportRequest,
  ): { readonly state: ExportState; readonly ending: AbortController } {
    const ending = new AbortController();
    const state: ExportState = {
      id: randomBytes(12).toString('hex'),
      owner: request.identity.username,
      owner_id: request.identity.userId,
      query: question.query,
      started_at: new Date().toISOString(),
      rows: 0,
      total: undefined,
    };
    this.#running.set(state.id, { state, ending });
    void this.#shared.begin({ shown: () => state, cancel: () => ending.abort() }, 'soon');
    this.#metrics.exports.set(this.#running.size);
    // Read when the record is made, which is after the last row.
    const details = {
      export: state.id,
      get rows() {
        return state.rows;
      },
      fields,
      streams: question.streams,
      from: question.from,
      to: question.to,
    };
    request.audited = { object: question.query === '' ? '*' : question.query, details };
    return { state, ending };
  }

  /** Rejects with what goes wrong before the first row. */
  async #open(
    { identity }: FastifyRequest,
    wanted: ExportRequest,
    state: ExportState,
    signal: AbortSignal,
  ): Promise<Readable> {
    const { searcher, log } = this.#services;
    const { question, sort, limit } = wanted;
    const options = { scope: identity.scope, signal, fairnessKey: identity.username };
    const rows = searcher
      .rows({ ...question, fields: [...new Set(wanted.fields)], sort, limit }, options)
      [Symbol.asyncIterator]();
    const first = await rows.next();
    void searcher
      .aggregate({ ...question, aggregate: { groups: [], metrics: [] } }, options)
      .then(({ total }) => {
        state.total = Math.min(total, limit ?? total);
      })
      .catch(() => undefined);
    const count = (batch: number): void => {
      state.rows += batch;
      this.#metrics.exportedRows.inc(batch);
    };
    const stream = Readable.from(lines(first, rows, wanted, count), {
      objectMode: false,
      highWaterMark: streamBufferBytes,
    });
    stream.once('error', (error) => {
      if (!signal.aborted) apiEvents.exportCut(log, { error: errorText(error), export: state.id });
    });
    stream.once('close', () => this.#finish(state));
    return stream;
  }

  #finish({ id }: ExportState): void {
    this.#running.delete(id);
    this.#shared.end(id);
    this.#metrics.exports.set(this.#running.size);
  }
}

/** One text a batch. Nothing found: nothing written, no head either, as clients of peers expect. */
async function* lines(
  first: IteratorResult<readonly SearchHit[]>,
  rows: AsyncIterator<readonly SearchHit[]>,
  { fields, timeZone }: ExportRequest,
  onRows: (count: number) => void,
): AsyncGenerator<string> {
  try {
    let headed = false;
    for (let batch = first; batch.done !== true; batch = await rows.next()) {
      if (batch.value.length === 0) continue;
      const rowsOfBatch = batch.value.map((hit) => cellsOf(hit, fields, timeZone));
      yield csvLines(headed ? rowsOfBatch : [fields, ...rowsOfBatch]);
      headed = true;
      onRows(batch.value.length);
    }
  } finally {
    await rows.return?.(undefined);
  }
}

function cellsOf(hit: SearchHit, fields: readonly string[], timeZone: string | undefined): unknown[] {
  const { message, index } = messageRow(hit);
  return fields.map((field) => {
    const value = field === '_index' ? index : message[field];
    return timeZone !== undefined && timeFields.has(field) && typeof value === 'string'
      ? inZone(value, timeZone)
      : value;
  });
}

function inZone(text: string, timeZone: string): string {
  const time = Date.parse(text);
  if (Number.isNaN(time)) return text;
  const shift = zoneShift(timeZone, time);
  const minutes = Math.abs(shift) / 60_000;
  const offset =
    shift === 0
      ? 'Z'
      : `${shift < 0 ? '-' : '+'}${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
  return new Date(time + shift).toISOString().replace('Z', offset);
}
