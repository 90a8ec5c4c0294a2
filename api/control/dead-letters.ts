/**
 * Looking at dead letters, replaying and dropping them. Long work answers in lines, and is ended by the job that its
 * first line names.
 */
import { randomBytes } from 'node:crypto';
import { tellError } from '../../core/process/told-error.js';
import type { Selection, Work } from '../../pipeline/dead-letters/contract.js';
import type { ReadQuery } from '../../search/contract.js';
import { apiErrors } from '../errors.js';
import type { ControlPorts, ControlRoutes } from './contract.js';
import { operationsOf } from './store-access.js';

const states = ['open', 'replayed', 'dropped', 'all'] as const;
const defaultLimit = 100;

export interface DeadLettersBody {
  readonly ids?: readonly string[];
  readonly code?: string;
  readonly reason?: string;
  readonly receiver?: string;
  readonly peer?: string;
  readonly index_set?: string;
  readonly state?: (typeof states)[number];
  readonly query?: string;
  readonly from?: number;
  readonly to?: number;
  /** Default: 100 for a list, all for a replay or drop. */
  readonly limit?: number;
  /** A replay or drop of everything is asked for by name. */
  readonly all?: boolean;
  readonly dry_run?: boolean;
  /** Who drops. */
  readonly by?: string;
}

export function deadLetterRoutes(ports: Pick<ControlPorts, 'operations' | 'deadLetterQuery'>): ControlRoutes {
  const jobs = new Map<string, AbortController>();
  const deadLetters = () => operationsOf(ports).deadLetters;

  /** The first line names the job, the last one is its report. */
  const run = async <Report>(
    signal: AbortSignal,
    line: (value: unknown) => Promise<void>,
    work: (work: Work) => Promise<Report>,
  ): Promise<undefined> => {
    const job = randomBytes(6).toString('hex');
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    signal.addEventListener('abort', abort);
    jobs.set(job, controller);
    try {
      await line({ job });
      const report = await work({ signal: controller.signal, onProgress: (progress) => line({ progress }) });
      await line({ report });
    } catch (error) {
      // The lines before it have been sent: the status cannot say it any more.
      const { type, ...told } = tellError(error);
      await line({ error: { code: type, ...told } });
    } finally {
      jobs.delete(job);
      signal.removeEventListener('abort', abort);
    }
    return undefined;
  };

  return {
    'POST /dead-letters/list': async (body, { signal, line }) => {
      const { limit = defaultLimit } = bodyOf(body);
      const total = await deadLetters().list(
        selectionOf(bodyOf(body), ports.deadLetterQuery),
        limit,
        async (page) => {
          for (const { id, place, document } of page) await line({ deadLetter: { _id: id, _index: place, document } });
        },
        signal,
      );
      await line({ total });
      return undefined;
    },
    'POST /dead-letters/show': async (body) => {
      const id = bodyOf(body).ids?.[0] ?? '';
      const deadLetter = await deadLetters().find(id);
      if (deadLetter === undefined) throw apiErrors.create('DEAD_LETTER_UNKNOWN', { got: id });
      return { _id: deadLetter.id, _index: deadLetter.place, document: deadLetter.document };
    },
    'POST /dead-letters/replay': (body, { signal, line }) => {
      const { limit = Infinity, dry_run: dryRun } = bodyOf(body);
      const selection = chosen(bodyOf(body), ports.deadLetterQuery);
      return run(signal, line, async (work) =>
        dryRun === true ? deadLetters().plan(selection, limit, work) : deadLetters().replay(selection, limit, work),
      );
    },
    'POST /dead-letters/drop': (body, { signal, line }) => {
      const { limit = Infinity, by = '' } = bodyOf(body);
      const selection = chosen(bodyOf(body), ports.deadLetterQuery);
      return run(signal, line, (work) => deadLetters().drop(selection, limit, by, work));
    },
    'POST /dead-letters/cancel': (body) => {
      const { job = '' } = (body ?? {}) as { job?: string };
      jobs.get(job)?.abort();
      return Promise.resolve({ cancelled: jobs.has(job) });
    },
  };
}

function bodyOf(body: unknown): DeadLettersBody {
  const request = (body ?? {}) as DeadLettersBody;
  const { limit, state, ids } = request;
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0))
    throw wrong('limit', limit, 'a whole number');
  if (state !== undefined && !states.includes(state)) throw wrong('state', state, states.join(', '));
  if (ids !== undefined && !(Array.isArray(ids) && ids.every((id) => typeof id === 'string')))
    throw wrong('ids', ids, 'a list of texts');
  return request;
}

function wrong(place: string, got: unknown, allowed: string): Error {
  return apiErrors.create('API_REQUEST_INVALID', { place, got: JSON.stringify(got), allowed });
}

export function selectionOf(body: DeadLettersBody, readQuery: ReadQuery): Selection {
  const {
    ids,
    code,
    reason,
    receiver,
    peer,
    index_set: indexSet,
    state = ids === undefined ? 'open' : 'all',
    from,
    to,
  } = body;
  const query = readQuery(body.query ?? '');
  return { ids, code, reason, receiver, peer, indexSet, state, query, from, to };
}

/** A change of dead letters must say which ones it means. */
export function chosen(body: DeadLettersBody, readQuery: ReadQuery): Selection {
  const filters: readonly (keyof DeadLettersBody)[] = [
    'ids',
    'code',
    'reason',
    'receiver',
    'peer',
    'index_set',
    'from',
    'to',
  ];
  const named =
    filters.some((name) => body[name] !== undefined) || (body.query ?? '').trim() !== '' || body.all === true;
  if (!named) throw apiErrors.create('DEAD_LETTER_SELECTION_MISSING');
  return selectionOf(body, readQuery);
}
