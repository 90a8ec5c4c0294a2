/** CSV exports: rows as they are read, one batch at a time, with progress, until the end, the limit or the client's leaving. */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { csvLines } from '../../../core/csv.js';
import { errorText } from '../../../core/errors.js';
import { buildMetrics } from '../../../core/metrics.js';
import { timeFields } from '../../../schemas/index-fields.js';
import type { SearchHit } from '../../../schemas/query.js';
import type { SearchQuestion } from '../../../search/contract.js';
import { failure } from '../failure.js';
import { apiMetrics } from '../metrics.js';
import { createSharedWork } from '../objects/long-work/shared-work.js';
import { sharedStateOf, type ApiServices } from '../services.js';
import { zoneShift } from './time-zones.js';
import { messageRow } from './message-lists.js';

export interface ExportRequest {
  readonly question: SearchQuestion;
  readonly fields: readonly string[];
  readonly limit?: number | undefined;
  readonly sort?: { readonly field: string; readonly direction: 'asc' | 'desc' } | undefined;
  /** IANA name; times are written with its offset. Default: UTC with Z. */
  readonly timeZone?: string | undefined;
}

export interface ExportState {
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
  /** Answers the request with a stream. What goes wrong before the first row is an answer of its own; after it, the connection is cut. */
  send(request: FastifyRequest, reply: FastifyReply, wanted: ExportRequest): Promise<FastifyReply>;
  /** Of every process; those of others as they were a few seconds ago. */
  list(): Promise<readonly ExportState[]>;
  cancel(id: string): Promise<void>;
  stop(): void;
}

const known = new WeakMap<ApiServices, Exports>();

/** All routes share one list and one limit. */
export function exportsOf(services: ApiServices): Exports {
  const kept = known.get(services) ?? createExports(services);
  known.set(services, kept);
  return kept;
}

function createExports(services: ApiServices): Exports {
  const running = new Map<string, { readonly state: ExportState; readonly ending: AbortController }>();
  const metrics = buildMetrics(services.registry, apiMetrics);
  const { max_exports: most } = services.config.api;
  const shared = createSharedWork<ExportState>({
    state: sharedStateOf(services),
    prefix: 'exports/',
    keptMs: 0,
    log: services.log,
  });

  return {
    async send(request, reply, wanted) {
      if (running.size >= most)
        throw failure('API_BUSY', `${most} exports are under way already (api.max_exports); try again later.`, {
          headers: { 'retry-after': '10' },
        });
      const ending = new AbortController();
      const { identity } = request;
      const state: ExportState = {
        id: randomBytes(12).toString('hex'),
        owner: identity.username,
        owner_id: identity.userId,
        query: wanted.question.query,
        started_at: new Date().toISOString(),
        rows: 0,
        total: undefined,
      };
      running.set(state.id, { state, ending });
      void shared.begin({ shown: () => state, cancel: () => ending.abort() }, 'soon');
      metrics.exports.set(running.size);
      const options = { scope: identity.scope, signal: ending.signal, fairnessKey: identity.username };
      const finish = (): void => {
        running.delete(state.id);
        shared.end(state.id);
        metrics.exports.set(running.size);
      };
      // Read when the record is made, which is after the last row.
      const details = {
        export: state.id,
        get rows() {
          return state.rows;
        },
        fields: wanted.fields,
        streams: wanted.question.streams,
        from: wanted.question.from,
        to: wanted.question.to,
      };
      request.audited = { object: wanted.question.query === '' ? '*' : wanted.question.query, details };
      reply.raw.once('close', () => ending.abort());
      const rows = services.searcher
        .rows(
          { ...wanted.question, fields: [...new Set(wanted.fields)], sort: wanted.sort, limit: wanted.limit },
          options,
        )
        [Symbol.asyncIterator]();
      try {
        const first = await rows.next();
        void services.searcher
          .aggregate({ ...wanted.question, aggregate: { groups: [], metrics: [] } }, options)
          .then(({ total }) => {
            state.total = Math.min(total, wanted.limit ?? total);
          })
          .catch(() => undefined);
        const stream = Readable.from(
          lines(first, rows, wanted, (count) => {
            state.rows += count;
            metrics.exportedRows.inc(count);
          }),
          { objectMode: false, highWaterMark: 64 * 1024 },
        );
        stream.once('error', (error) => {
          if (!ending.signal.aborted)
            services.log.warn({ error: errorText(error), export: state.id }, 'an export was cut short');
        });
        stream.once('close', finish);
        return await reply
          .headers({
            'content-type': 'text/csv; charset=utf-8',
            'content-disposition': 'attachment; filename="search-result.csv"',
            'x-export-id': state.id,
          })
          .send(stream);
      } catch (error) {
        finish();
        throw error;
      }
    },
    async list() {
      const others = (await shared.others()).filter(({ lost }) => !lost).map(({ shown }) => shown);
      return [...[...running.values()].map(({ state }) => state), ...others];
    },
    async cancel(id) {
      const own = running.get(id);
      if (own === undefined) await shared.cancel(id);
      else own.ending.abort();
    },
    stop() {
      shared.stop();
      running.forEach(({ ending }) => ending.abort());
    },
  };
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
