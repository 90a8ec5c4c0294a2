/** Searches under way and their results, in the memory of this process: bounded in number, in bytes and in time. */
import { randomBytes } from 'node:crypto';
import type { Identity } from '../../../schemas/access.js';
import { errorText } from '../../../core/errors.js';
import type { Log } from '../../../core/log.js';
import { failure } from '../failure.js';
import type { QueryResults } from './execute.js';

/** Nobody asked for it this long: nobody will. */
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

export interface Jobs {
  /** `as`: of a job that somebody began in another process; it is known to this asker only. */
  start(
    searchId: string,
    asker: Identity,
    run: (signal: AbortSignal) => Promise<QueryResults>,
    cancelAfterMs?: number,
    as?: { readonly id: string; readonly owner: string },
  ): { readonly job: Job; readonly finished: Promise<void> };
  /** Throws 404, and 403 for the job of somebody else. */
  find(id: string, identity: Identity): Job;
  /** Undefined where `find` would not know it, or knows it with other rights. */
  known(id: string, identity: Identity): Job | undefined;
  cancel(id: string, identity: Identity): void;
  stop(): void;
}

interface Kept {
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
  const jobs = new Map<string, Kept>();
  let bytes = 0;
  const remove = (job: Kept): void => {
    job.ending.abort();
    if (jobs.get(job.key) === job && jobs.delete(job.key)) bytes -= job.results?.length ?? 0;
  };
  const makeRoom = (owner: string): void => {
    for (const job of jobs.values()) if (now() - job.touched > jobKeptMs) remove(job);
    const own = [...jobs.values()].filter((job) => job.asker.userId === owner);
    for (const job of own.slice(0, Math.max(0, own.length - maxJobsOfUser + 1))) remove(job);
    for (const job of jobs.values()) {
      if (jobs.size < maxJobs) break;
      remove(job);
    }
  };
  const keep = (job: Kept, results: QueryResults): void => {
    if (jobs.get(job.key) !== job) return;
    const text = JSON.stringify(results);
    for (const other of jobs.values()) {
      if (bytes + text.length <= maxResultBytes) break;
      if (other !== job && other.execution.done) remove(other);
    }
    if (bytes + text.length > maxResultBytes)
      throw failure('API_TOO_LARGE', 'The result is larger than what is kept; ask for fewer messages at once.');
    job.results = text;
    bytes += text.length;
  };
  /** Results stay with the rights that they were found with. */
  const mayUse = ({ asker }: Kept, identity: Identity): boolean =>
    identity.administrator || JSON.stringify(asker.scope) === JSON.stringify(identity.scope);
  const find = (id: string, identity: Identity): Kept => {
    const job = jobs.get(ofAsker(id, identity)) ?? jobs.get(id);
    if (job === undefined) throw unknownJob();
    if (job.asker.userId !== identity.userId && !identity.administrator)
      throw failure('API_FORBIDDEN', 'Not allowed: this search job is of somebody else.');
    if (!mayUse(job, identity)) throw unknownJob();
    job.touched = now();
    return job;
  };
  return {
    start(searchId, asker, run, cancelAfterMs, as) {
      makeRoom(asker.userId);
      const id = as?.id ?? randomBytes(12).toString('hex');
      const key = as === undefined ? id : ofAsker(id, asker);
      const before = jobs.get(key);
      if (before !== undefined) remove(before);
      const job: Kept = {
        id,
        key,
        searchId,
        owner: as?.owner ?? asker.username,
        asker,
        ending: new AbortController(),
        execution: { done: false, cancelled: false, completed_exceptionally: false },
        results: undefined,
        touched: now(),
      };
      jobs.set(key, job);
      const timer =
        cancelAfterMs === undefined || cancelAfterMs === 0
          ? undefined
          : setTimeout(() => job.ending.abort(), cancelAfterMs).unref();
      const finished = run(job.ending.signal)
        .then((results) => {
          keep(job, results);
          job.execution = { done: true, cancelled: job.ending.signal.aborted, completed_exceptionally: false };
        })
        .catch((error: unknown) => {
          if (!job.ending.signal.aborted) log.warn({ error: errorText(error) }, 'a search job failed');
          job.execution = { done: true, cancelled: job.ending.signal.aborted, completed_exceptionally: true };
        })
        .finally(() => clearTimeout(timer));
      return { job, finished };
    },
    find,
    known(id, identity) {
      const job = jobs.get(ofAsker(id, identity)) ?? jobs.get(id);
      const isKnown =
        job !== undefined && (job.asker.userId === identity.userId || identity.administrator) && mayUse(job, identity);
      return isKnown ? find(id, identity) : undefined;
    },
    cancel(id, identity) {
      const job = find(id, identity);
      if (!job.execution.done) job.execution = { ...job.execution, cancelled: true };
      job.ending.abort();
    },
    stop() {
      for (const job of jobs.values()) remove(job);
    },
  };
}

const ofAsker = (id: string, { userId }: Identity): string => `${id} ${userId}`;

export const unknownJob = (): Error =>
  failure('API_NOT_FOUND', 'There is no such search job. Results are kept for five minutes.');
