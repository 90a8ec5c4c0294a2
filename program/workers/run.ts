/**
 * The primary process of several workers: starts them, answers for them, stops them. It opens no engine and receives
 * nothing itself.
 */
import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { at } from '../../core/at.js';
import type { Log } from '../../core/log.js';
import { buildMetrics, type Registry } from '../../core/metrics.js';
import type { Roles } from '../sluice.js';
import type { Config } from '../../schemas/config/config.js';
import { createAnswers } from './answers.js';
import type { RunningProgram } from './contract.js';
import { sharesTopics } from '../topic-log.js';
import { workerErrors } from './errors.js';
import { createMergedMetrics } from './merged-metrics.js';
import { workerMetrics } from './metrics.js';
import { WorkerPool } from './pool.js';

/** What a killed worker counted since it was last asked is missing in the sums. */
const learnMetricsMs = 2_000;

interface WorkersOptions {
  readonly config: Config;
  readonly roles: Roles;
  readonly count: number;
  readonly log: Log;
  readonly logFile: string | undefined;
  readonly registry: Registry;
  readonly controlPathOf: (worker: number) => string;
  readonly adminPort: () => number | undefined;
  readonly onFatal: (error: unknown) => void;
}

/** How many processes these settings and roles ask for. */
export function workerCount(config: Config, roles: Roles): number {
  const shared = sharesTopics(config) && (!roles.processor || config.store.kind === 'opensearch');
  if (config.workers === 'auto') return shared ? availableParallelism() : 1;
  const count = Number(config.workers);
  if (count > 1 && !shared)
    throw workerErrors.create('WORKERS_IMPOSSIBLE', {
      place: 'workers',
      got: `${count} with topics.kind: ${config.topics.kind} and store.kind: ${config.store.kind}`,
    });
  return count;
}

export function createWorkers(options: WorkersOptions): RunningProgram {
  const { config, roles, count, log, logFile } = options;
  const metrics = createMergedMetrics();
  const own = buildMetrics(options.registry, workerMetrics);
  own.configured.set(count);
  const pool = new WorkerPool({
    count,
    log,
    onFatal: options.onFatal,
    startOf: (index) => ({
      type: 'start',
      index,
      count,
      config,
      roles,
      logFile,
      controlPath: options.controlPathOf(index),
    }),
    onEnd: (index) => metrics.departed(index),
    onRestart: (index) => own.restarts.inc({ worker: index }),
  });
  const answers = createAnswers({
    states: () => pool.states(),
    controlPathOf: options.controlPathOf,
    metrics,
    registry: options.registry,
    adminPort: options.adminPort,
  });
  let learning: NodeJS.Timeout | undefined;

  return {
    async start() {
      // Each worker accepts from the shared socket itself: connections handed over by the primary process would be
      // stuck in a worker that is killed.
      cluster.schedulingPolicy = cluster.SCHED_NONE;
      cluster.setupPrimary({ exec: join(import.meta.dirname, 'worker.js'), args: [] });
      const facts = await pool.start();
      for (const { worker } of pool.states()) own.restarts.inc({ worker }, 0);
      learning = setInterval(() => void answers.learnMetrics(), learnMetricsMs).unref();
      const receivers = new Map(facts.flatMap((one) => one.receivers).map((receiver) => [receiver.name, receiver]));
      return {
        ...at(facts, 0),
        api: facts.find(({ api }) => api !== undefined)?.api,
        firstPasswords: facts.flatMap(({ firstPasswords }) => firstPasswords ?? []),
        receivers: config.receivers.flatMap(({ name }) => receivers.get(name) ?? []),
      };
    },
    async stop(deadlineMs) {
      clearInterval(learning);
      await pool.stop(deadlineMs);
    },
    kill: () => pool.kill(),
    ready: () => answers.ready(),
    metricsText() {
      own.ready.set(pool.states().filter(({ ready }) => ready).length);
      return answers.metricsText();
    },
    controlRoutes: answers.routes,
    forward: answers.forward,
  };
}
