/**
 * Search jobs that any process of the API answers for. The state has what a job asks, not its results. A process that
 * is asked for the job of another one runs it again: for the same moment, with the rights of whoever asks.
 */
import { errorText, isSluiceError } from '../../../core/errors.js';
import type { Log } from '../../../core/log.js';
import type { Identity } from '../../../schemas/access.js';
import type { ExecuteBody, StoredSearch } from '../../../schemas/api-search.js';
import type { StateStore } from '../../../state/contract.js';
import { failure } from '../failure.js';
import type { QueryResults } from './execute.js';
import { jobKeptMs, unknownJob, type Job, type Jobs, type JobStart, type StartedJob } from './jobs.js';
import { apiEvents } from '../../events.js';

const sharedJobsPrefix = 'search-jobs/';
/** A job cancelled in another process ends within this time. */
const lookMs = 1_000;
/** Records that a process left behind. */
const sweepMs = 300_000;
/** Largest record, as JSON. A larger job stays with its process. */
const maxRecordBytes = 64 * 1024;

interface JobRequest {
  readonly search: StoredSearch;
  readonly override: ExecuteBody['global_override'];
  /** The moment that relative times count from. */
  readonly now: number;
  readonly cancelAfterMs: number | undefined;
}

interface SharedJobsOptions {
  readonly jobs: Jobs;
  /** Undefined: there is no other process. */
  readonly state: StateStore | undefined;
  readonly search: (id: string) => Promise<StoredSearch | undefined>;
  readonly run: (request: JobRequest, identity: Identity, signal: AbortSignal) => Promise<QueryResults>;
  readonly log: Log;
}

interface JobRecord {
  readonly search_id: string;
  readonly owner_id: string;
  readonly owner: string;
  readonly override: ExecuteBody['global_override'];
  readonly now: number;
  readonly cancel_after_ms: number | null;
  readonly cancelled: boolean;
}

export interface SharedJobs {
  start(request: JobRequest, owner: Identity): Promise<Job>;
  /** Throws 404, and 403 for the job of somebody else. */
  find(id: string, identity: Identity): Promise<Job>;
  cancel(id: string, identity: Identity): Promise<void>;
  stop(): void;
}

export function createSharedJobs(options: SharedJobsOptions): SharedJobs {
  return new StateSharedJobs(options);
}

class StateSharedJobs implements SharedJobs {
  readonly #options: SharedJobsOptions;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(options: SharedJobsOptions) {
    this.#options = options;
  }

  async start(request: JobRequest, owner: Identity): Promise<Job> {
    const { state } = this.#options;
    const { job, finished } = this.#begin(request, owner);
    const record: JobRecord = {
      search_id: request.search.id,
      owner_id: owner.userId,
      owner: owner.username,
      override: request.override,
      now: request.now,
      cancel_after_ms: request.cancelAfterMs ?? null,
      cancelled: false,
    };
    if (state === undefined || JSON.stringify(record).length > maxRecordBytes) return job;
    this.#sweepFromNowOn(state);
    // A state that does not answer delays no search; then only this process knows the job.
    await state.put(keyOf(job.id), record, undefined).then(
      () => this.#watch(job.id, owner, finished),
      (error: unknown) => this.#warn(error),
    );
    return job;
  }

  async find(id: string, identity: Identity): Promise<Job> {
    const { jobs, state } = this.#options;
    const own = jobs.known(id, identity);
    if (own !== undefined || state === undefined) return own ?? jobs.find(id, identity);
    const record = await this.#recordOf(id, identity);
    const search = await this.#options.search(record.search_id);
    if (search === undefined) throw unknownJob();
    const begun = jobs.known(id, identity);
    if (begun !== undefined) return begun;
    const { job, finished } = this.#begin(
      { search, override: record.override, now: record.now, cancelAfterMs: record.cancel_after_ms ?? undefined },
      identity,
      { id, owner: record.owner },
    );
    this.#watch(id, identity, finished);
    if (record.cancelled) jobs.cancel(id, identity);
    return job;
  }

  async cancel(id: string, identity: Identity): Promise<void> {
    const { jobs, state } = this.#options;
    const own = jobs.known(id, identity);
    if (own !== undefined) jobs.cancel(id, identity);
    else if (state === undefined) jobs.find(id, identity);
    if (state === undefined) return;
    const record = await this.#recordOf(id, identity).catch((error: unknown) => {
      if (own === undefined) throw error;
      return undefined;
    });
    const entry = record === undefined ? undefined : await state.get(keyOf(id));
    if (entry !== undefined)
      await state.put(entry.key, { ...record, cancelled: true }, entry.revision).catch(whenChanged);
  }

  stop(): void {
    clearInterval(this.#sweeping);
    this.#options.jobs.stop();
  }

  #begin(request: JobRequest, asker: Identity, as?: JobStart['as']): StartedJob {
    return this.#options.jobs.start({
      searchId: request.search.id,
      asker,
      run: (signal) => this.#options.run(request, asker, signal),
      cancelAfterMs: request.cancelAfterMs,
      as,
    });
  }

  /** Ends the job when it was cancelled elsewhere, and forgets its record when its time is over. */
  #watch(id: string, identity: Identity, finished: Promise<void>): void {
    const { jobs, state } = this.#options;
    if (state === undefined) return;
    const look = async (): Promise<void> => {
      const entry = await state.get(keyOf(id));
      if ((entry?.value as JobRecord | undefined)?.cancelled === true) jobs.cancel(id, identity);
    };
    const looking = setInterval(() => void look().catch(() => undefined), lookMs).unref();
    void finished.finally(() => clearInterval(looking));
  }

  async #recordOf(id: string, identity: Identity): Promise<JobRecord> {
    const record = /^[0-9a-f]{24}$/.test(id)
      ? ((await this.#options.state?.get(keyOf(id)))?.value as JobRecord | undefined)
      : undefined;
    if (record === undefined || record.now < Date.now() - jobKeptMs) throw unknownJob();
    if (record.owner_id !== identity.userId && !identity.administrator)
      throw failure('API_FORBIDDEN', 'Not allowed: this search job is of somebody else.');
    return record;
  }

  #sweepFromNowOn(state: StateStore): void {
    if (this.#sweeping !== undefined) return;
    const sweepNow = (): void => void sweep(state, Date.now()).catch((error: unknown) => this.#warn(error));
    this.#sweeping = setInterval(sweepNow, sweepMs).unref();
    sweepNow();
  }

  #warn(error: unknown): void {
    apiEvents.searchJobUnshared(this.#options.log, { error: errorText(error) });
  }
}

function keyOf(id: string): string {
  return `${sharedJobsPrefix}${id}`;
}

/** Only a cancel changes a record, and only the end of its time removes it. */
function whenChanged(error: unknown): void {
  if (!isSluiceError(error) || error.code !== 'STATE_CONFLICT') throw error;
}

async function sweep(state: StateStore, now: number): Promise<void> {
  for (const { key, value, revision } of await state.list(sharedJobsPrefix)) {
    if ((value as JobRecord).now < now - jobKeptMs) await state.delete(key, revision).catch(whenChanged);
  }
}
