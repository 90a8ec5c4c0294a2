/** Searches under way and their results, in the memory of this process: bounded in number, in bytes and in time. */
import { randomBytes } from 'node:crypto';
import type { Identity } from '../../../schemas/access.js';
import { errorText } from '../../../core/errors.js';
import type { Log } from '../../../core/log.js';
import { failure } from '../failure.js';
import type { QueryResults } from './execute.js';

/** Nobody asked for it this long: nobody will. */
const idleMs = 300_000;
const maxJobs = 500;
const maxJobsOfUser = 50;
/** Results of all jobs together, as JSON. */
const maxResultBytes = 64 * 2 ** 20;

export interface Job {
  readonly id: string;
  readonly searchId: string;
  readonly owner: Identity;
  readonly execution: { readonly done: boolean; readonly cancelled: boolean; readonly completed_exceptionally: boolean };
  /** `{ queryId: result }` as JSON; undefined until it is done. */
  readonly results: string | undefined;
}

export interface Jobs {
  start(searchId: string, owner: Identity, run: (signal: AbortSignal) => Promise<QueryResults>, cancelAfterMs?: number): { readonly job: Job; readonly finished: Promise<void> };
  /** Throws 404, and 403 for the job of somebody else. */
  find(id: string, identity: Identity): Job;
  cancel(id: string, identity: Identity): void;
  stop(): void;
}

interface Kept {
  readonly id: string;
  readonly searchId: string;
  readonly owner: Identity;
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
    if (jobs.delete(job.id)) bytes -= job.results?.length ?? 0;
  };
  const makeRoom = (owner: string): void => {
    for (const job of jobs.values()) if (now() - job.touched > idleMs) remove(job);
    const own = [...jobs.values()].filter((job) => job.owner.userId === owner);
    for (const job of own.slice(0, Math.max(0, own.length - maxJobsOfUser + 1))) remove(job);
    for (const job of jobs.values()) {
      if (jobs.size < maxJobs) break;
      remove(job);
    }
  };
  const keep = (job: Kept, results: QueryResults): void => {
    if (!jobs.has(job.id)) return;
    const text = JSON.stringify(results);
    for (const other of jobs.values()) {
      if (bytes + text.length <= maxResultBytes) break;
      if (other !== job && other.execution.done) remove(other);
    }
    if (bytes + text.length > maxResultBytes) throw failure(413, 'The result is larger than what is kept; ask for fewer messages at once.');
    job.results = text;
    bytes += text.length;
  };
  const find = (id: string, identity: Identity): Kept => {
    const job = jobs.get(id);
    if (job === undefined) throw unknownJob();
    if (job.owner.userId !== identity.userId && !identity.administrator) throw failure(403, 'Not allowed: this search job is of somebody else.');
    // Results stay with the rights that they were found with.
    if (!identity.administrator && JSON.stringify(job.owner.scope) !== JSON.stringify(identity.scope)) throw unknownJob();
    job.touched = now();
    return job;
  };
  return {
    start(searchId, owner, run, cancelAfterMs) {
      makeRoom(owner.userId);
      const job: Kept = { id: randomBytes(12).toString('hex'), searchId, owner, ending: new AbortController(), execution: { done: false, cancelled: false, completed_exceptionally: false }, results: undefined, touched: now() };
      jobs.set(job.id, job);
      const timer = cancelAfterMs === undefined || cancelAfterMs === 0 ? undefined : setTimeout(() => job.ending.abort(), cancelAfterMs).unref();
      const finished = run(job.ending.signal).then((results) => {
        keep(job, results);
        job.execution = { done: true, cancelled: job.ending.signal.aborted, completed_exceptionally: false };
      }).catch((error: unknown) => {
        if (!job.ending.signal.aborted) log.warn({ error: errorText(error) }, 'a search job failed');
        job.execution = { done: true, cancelled: job.ending.signal.aborted, completed_exceptionally: true };
      }).finally(() => clearTimeout(timer));
      return { job, finished };
    },
    find,
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

const unknownJob = (): Error => failure(404, 'There is no such search job. Results are kept for five minutes.');
