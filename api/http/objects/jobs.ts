/** Long work that a request begins and others look at: progress, outcome, cancelled on request. Bounded; the oldest ended ones are forgotten. */
import { randomUUID } from 'node:crypto';
import { errorText, isSluiceError } from '../../../core/errors.js';
import { failure } from '../failure.js';

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
  /** Refused with 429 while too many run. */
  begin(kind: string, by: string, work: (signal: AbortSignal, onProgress: (progress: Job['progress']) => void) => Promise<Readonly<Record<string, unknown>>>): Job;
  list(): readonly Job[];
  find(id: string): Job | undefined;
  cancel(id: string): void;
}

const mostRunning = 2;
const mostKept = 100;

export function createJobs(): Jobs {
  const jobs = new Map<string, { readonly job: Job; readonly controller: AbortController }>();
  const running = (): number => [...jobs.values()].filter(({ job }) => job.state === 'running').length;
  const forgetOldest = (): void => {
    for (const [id, { job }] of jobs) if (jobs.size > mostKept && job.state !== 'running') jobs.delete(id);
  };
  return {
    begin(kind, by, work) {
      if (running() >= mostRunning) throw failure(429, 'Other long work is running; look at it, or wait until it ends.', { headers: { 'retry-after': '5' } });
      const controller = new AbortController();
      const job: Job = { id: randomUUID(), kind, by, started_at: new Date().toISOString(), state: 'running', progress: { done: 0, total: 0 }, report: null, problem: null };
      jobs.set(job.id, { job, controller });
      forgetOldest();
      work(controller.signal, (progress) => { job.progress = progress; }).then((report) => {
        job.report = report;
        job.state = controller.signal.aborted ? 'cancelled' : 'done';
      }, (error: unknown) => {
        job.problem = isSluiceError(error) ? errorText(error) : 'Something went wrong on our side.';
        job.state = 'failed';
      });
      return job;
    },
    list: () => [...jobs.values()].map(({ job }) => job).reverse(),
    find: (id) => jobs.get(id)?.job,
    cancel: (id) => jobs.get(id)?.controller.abort(),
  };
}
