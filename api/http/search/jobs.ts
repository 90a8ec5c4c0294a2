/** Searches under way and their results, in the memory of this process: bounded in number, in bytes and in time. */
import { randomBytes } from 'node:crypto';
import type { Identity } from '../../../schemas/access.js';
import { errorText } from '../../../core/errors.js';
import type { Log } from '../../../core/log.js';
import { failure } from '../failure.js';
import type { QueryResults } from './execute.js';
import { apiEvents } from '../../events.js';

/** A job that nobody has asked for in this time is removed. */
export const jobKeptMs = 300_000;
const maxJobs = 500;
const maxJobsOfUser = 50;
/** Results of all jobs together, as JSON. */
const maxResultBytes = 64 * 2 ** 20;

export interface Job {
  readonly id: string;
  readonly searchId: string;
  /** Name of who began it. */
  readonly owner: string;
  readonly execution: {
    readonly done: boolean;
    readonly cancelled: boolean;
    readonly completed_exceptionally: boolean;
  };
  /** `{ queryId: result }` as JSON; undefined until it is done. */
  readonly results: string | undefined;
}

/** What a job runs, for whom, and for how long. */
export interface JobStart {
  readonly searchId: string;
  readonly asker: Identity;
  readonly run: (signal: AbortSignal) => Promise<QueryResults>;
  /** Undefined or 0: until it ends by itself. */
  readonly cancelAfterMs?: number | undefined;
  /** Names a job that was begun in another process; only this asker knows it here. */
  readonly as?: { readonly id: string; readonly owner: string } | undefined;
}

export interface StartedJob {
  readonly job: Job;
  readonly finished: Promise<void>;
}

export interface Jobs {
  start(start: JobStart): StartedJob;
  /** Throws 404, and 403 for the job of somebody else. */
  find(id: string, identity: Identity): Job;
  /** Undefined where `find` would not know it, or knows it with other rights. */
  known(id: string, identity: Identity): Job | undefined;
  cancel(id: string, identity: Identity): void;
  stop(): void;
}

interface RunningJob {
  readonly id: string;
  readonly searchId: string;
  readonly owner: string;
  readonly asker: Identity;
  /** Its place in the list: a job of another process has one for each asker. */
  readonly key: string;
  readonly ending: AbortController;
  execution: Job['execution'];
  results: string | undefined;
  touched: number;
}

export function createJobs(log: Log, now: () => number = Date.now): Jobs {
  return new MemoryJobs(log, now);
}

class MemoryJobs implements Jobs {
  readonly #log: Log;
  readonly #now: () => number;
  /** Oldest first. */
  readonly #jobs = new Map<string, RunningJob>();
  #bytes = 0;

  constructor(log: Log, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  start({ searchId, asker, run, cancelAfterMs = 0, as }: JobStart): StartedJob {
    this.#makeRoom(asker.userId);
    const id = as?.id ?? randomBytes(12).toString('hex');
    const key = as === undefined ? id : ofAsker(id, asker);
    const before = this.#jobs.get(key);
    if (before !== undefined) this.#remove(before);
    const job: RunningJob = {
      id,
      key,
      searchId,
      owner: as?.owner ?? asker.username,
      asker,
      ending: new AbortController(),
      execution: { done: false, cancelled: false, completed_exceptionally: false },
      results: undefined,
      touched: this.#now(),
    };
    this.#jobs.set(key, job);
    return { job, finished: this.#run(job, run, cancelAfterMs) };
  }

  async #run(job: RunningJob, run: JobStart['run'], cancelAfterMs: number): Promise<void> {
    const { signal } = job.ending;
    const timer = cancelAfterMs === 0 ? undefined : setTimeout(() => job.ending.abort(), cancelAfterMs).unref();
    try {
      this.#store(job, await run(signal));
      job.execution = { done: true, cancelled: signal.aborted, completed_exceptionally: false };
    } catch (error) {
      if (!signal.aborted) apiEvents.searchJobFailed(this.#log, { error: errorText(error) });
      job.execution = { done: true, cancelled: signal.aborted, completed_exceptionally: true };
    } finally {
      clearTimeout(timer);
    }
  }

  find(id: string, identity: Identity): RunningJob {
    const job = this.#jobOf(id, identity);
    if (job === undefined) throw unknownJob();
    if (job.asker.userId !== identity.userId && !identity.administrator)
      throw failure('API_FORBIDDEN', 'Not allowed: this search job is of somebody else.');
    if (!mayUse(job, identity)) throw unknownJob();
    job.touched = this.#now();
    return job;
  }

  known(id: string, identity: Identity): Job | undefined {
    const job = this.#jobOf(id, identity);
    const isKnown =
      job !== undefined && (job.asker.userId === identity.userId || identity.administrator) && mayUse(job, identity);
    return isKnown ? this.find(id, identity) : undefined;
  }

  cancel(id: string, identity: Identity): void {
    const job = this.find(id, identity);
    if (!job.execution.done) job.execution = { ...job.execution, cancelled: true };
    job.ending.abort();
  }

  stop(): void {
    for (const job of this.#jobs.values()) this.#remove(job);
  }

  #jobOf(id: string, identity: Identity): RunningJob | undefined {
    return this.#jobs.get(ofAsker(id, identity)) ?? this.#jobs.get(id);
  }

  #remove(job: RunningJob): void {
    job.ending.abort();
    if (this.#jobs.get(job.key) === job && this.#jobs.delete(job.key)) this.#bytes -= job.results?.length ?? 0;
  }

  #makeRoom(owner: string): void {
    for (const job of this.#jobs.values()) if (this.#now() - job.touched > jobKeptMs) this.#remove(job);
    const own = [...this.#jobs.values()].filter((job) => job.asker.userId === owner);
    for (const job of own.slice(0, Math.max(0, own.length - maxJobsOfUser + 1))) this.#remove(job);
    for (const job of this.#jobs.values()) {
      if (this.#jobs.size < maxJobs) break;
      this.#remove(job);
    }
  }

  /** Results that take too much room displace those of the oldest jobs that are done. */
  #store(job: RunningJob, results: QueryResults): void {
    if (this.#jobs.get(job.key) !== job) return;
    const text = JSON.stringify(results);
    for (const other of this.#jobs.values()) {
      if (this.#bytes + text.length <= maxResultBytes) break;
      if (other !== job && other.execution.done) this.#remove(other);
    }
    if (this.#bytes + text.length > maxResultBytes)
      throw failure('API_TOO_LARGE', 'The result is larger than what is kept; ask for fewer messages at once.');
    job.results = text;
    this.#bytes += text.length;
  }
}

/** Results stay with the rights that they were found with. */
function mayUse({ asker }: RunningJob, identity: Identity): boolean {
  return identity.administrator || JSON.stringify(asker.scope) === JSON.stringify(identity.scope);
}

const ofAsker = (id: string, { userId }: Identity): string => `${id} ${userId}`;

export const unknownJob = (): Error =>
  failure('API_NOT_FOUND', 'There is no such search job. Results are kept for five minutes.');
