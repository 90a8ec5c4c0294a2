/**
 * Long work that a request begins and others look at, in any process of the API: progress, outcome, cancelled on
 * request. Bounded; the oldest ended ones are forgotten.
 */
import { randomUUID } from 'node:crypto';
import { errorText, isSluiceError } from '../../../../core/errors.js';
import { failure } from '../../failure.js';
import type { SharedWork } from './shared-work.js';

export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly by: string;
  /** ISO 8601. */
  readonly started_at: string;
  state: 'running' | 'done' | 'cancelled' | 'failed';
  progress: { readonly done: number; readonly total: number };
  report: Readonly<Record<string, unknown>> | null;
  problem: string | null;
}

export interface Jobs {
  /** Refused with 429 while too many run in this process. */
  begin(
    kind: string,
    by: string,
    work: (
      signal: AbortSignal,
      onProgress: (progress: Job['progress']) => void,
    ) => Promise<Readonly<Record<string, unknown>>>,
  ): Promise<Job>;
  /** Newest first. */
  list(): Promise<readonly Job[]>;
  find(id: string): Promise<Job | undefined>;
  cancel(id: string): Promise<void>;
}

/** How long other processes tell of a job that has ended. */
export const jobRetainedMs = 3_600_000;
const lostProblem = 'The process that ran it is gone. What was done stays done; begin it again.';
const mostRunning = 2;
const mostKept = 100;

export function createJobs(shared: SharedWork<Job>): Jobs {
  const jobs = new Map<string, { readonly job: Job; readonly controller: AbortController }>();
  const running = (): number => [...jobs.values()].filter(({ job }) => job.state === 'running').length;
  const forgetOldest = (): void => {
    for (const [id, { job }] of jobs) if (jobs.size > mostKept && job.state !== 'running') jobs.delete(id);
  };
  const list = async (): Promise<readonly Job[]> => {
    const others = (await shared.others()).map(
      ({ shown, lost }): Job => (lost ? { ...shown, state: 'failed', problem: lostProblem } : shown),
    );
    return [...[...jobs.values()].map(({ job }) => job), ...others].sort((one, other) =>
      other.started_at.localeCompare(one.started_at),
    );
  };
  return {
    async begin(kind, by, work) {
      if (running() >= mostRunning)
        throw failure('API_BUSY', 'Other long work is running; look at it, or wait until it ends.', {
          headers: { 'retry-after': '5' },
        });
      const controller = new AbortController();
      const job: Job = {
        id: randomUUID(),
        kind,
        by,
        started_at: new Date().toISOString(),
        state: 'running',
        progress: { done: 0, total: 0 },
        report: null,
        problem: null,
      };
      jobs.set(job.id, { job, controller });
      forgetOldest();
      const told = shared.begin({ shown: () => job, cancel: () => controller.abort() }, 'now');
      void work(controller.signal, (progress) => {
        job.progress = progress;
      })
        .then(
          (report) => {
            job.report = report;
            job.state = controller.signal.aborted ? 'cancelled' : 'done';
          },
          (error: unknown) => {
            job.problem = isSluiceError(error) ? errorText(error) : 'Something went wrong on our side.';
            job.state = 'failed';
          },
        )
        .finally(() => shared.end(job.id));
      await told;
      return job;
    },
    list,
    find: async (id) => jobs.get(id)?.job ?? (await list()).find((job) => job.id === id),
    async cancel(id) {
      const own = jobs.get(id);
      if (own === undefined) await shared.cancel(id);
      else own.controller.abort();
    },
  };
}
