/**
 * What the primary process answers for its workers: readiness of all, metrics of all, status of all; the rest one of
 * them answers.
 */
import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { HealthReport } from '../../api/contract.js';
import { createControlClient } from '../../api/control/client.js';
import type { ControlHandler } from '../../api/control/contract.js';
import type { ControlForward } from '../../api/control/server.js';
import { errorText } from '../../core/errors.js';
import type { Registry } from '../../core/metrics.js';
import { workerPaths } from './contract.js';
import { workerErrors } from './errors.js';
import type { MergedMetrics, MetricSnapshot } from './merged-metrics.js';
import { sumCounts } from './counts.js';
import type { WorkerState } from './pool.js';
import { createWatchAnswers } from './watch-answers.js';

/** A worker that is busy answers within this time, or counts as one that does not. */
const patienceMs = 5_000;

interface AnswersOptions {
  readonly states: () => readonly WorkerState[];
  readonly controlPathOf: (worker: number) => string;
  readonly metrics: MergedMetrics;
  readonly registry: Registry;
  readonly adminPort: () => number | undefined;
}

interface Answers {
  ready(): Promise<HealthReport>;
  metricsText(): Promise<string>;
  /** Asks every worker for its metrics, so that little is lost of one that is killed. */
  learnMetrics(): Promise<void>;
  readonly routes: Readonly<Record<string, ControlHandler>>;
  readonly forward: ControlForward;
}

export function createAnswers(options: AnswersOptions): Answers {
  const ask = (worker: number, path: string): Promise<unknown> =>
    createControlClient(options.controlPathOf(worker), patienceMs).request('GET', path);
  const running = (): readonly number[] => options.states().flatMap(({ worker, ready }) => (ready ? [worker] : []));

  const healthOf = async ({ worker, ready }: WorkerState): Promise<HealthReport['checks']> => {
    if (!ready) return [{ name: `worker ${worker}`, ok: false, reason: 'it is being started' }];
    try {
      const { checks } = (await ask(worker, workerPaths.ready)) as HealthReport;
      return checks.map(({ name, ...check }) => ({ name: `worker ${worker}: ${name}`, ...check }));
    } catch (error) {
      return [{ name: `worker ${worker}`, ok: false, reason: errorText(error) }];
    }
  };
  const ready = async (): Promise<HealthReport> => {
    const checks = (await Promise.all(options.states().map(healthOf))).flat();
    return { ok: checks.every(({ ok }) => ok), checks };
  };
  const learnMetrics = async (): Promise<void> => {
    await Promise.all(
      running().map(async (worker) => {
        const answer = await ask(worker, workerPaths.metrics).catch(() => undefined);
        if (answer !== undefined) options.metrics.learn(worker, answer as readonly MetricSnapshot[]);
      }),
    );
  };

  return {
    ready,
    learnMetrics,
    async metricsText() {
      await learnMetrics();
      return options.metrics.text(options.registry);
    },
    routes: {
      ...createWatchAnswers(running, options.controlPathOf),
      'GET /status': async () => {
        const answers = (await Promise.allSettled(running().map((worker) => ask(worker, '/status')))).flatMap((one) =>
          one.status === 'fulfilled' ? [one.value as StatusPart] : [],
        );
        return mergeStatus(answers, {
          pid: process.pid,
          workers: options.states(),
          ready: await ready(),
          admin_port: options.adminPort(),
        });
      },
    },
    async forward(incoming, response) {
      const worker = running()[0];
      if (worker === undefined) throw workerErrors.create('WORKERS_NONE_ANSWERS');
      await forwardTo(options.controlPathOf(worker), incoming, response);
    },
  };
}

interface StatusPart {
  readonly receivers: readonly { readonly name: string }[];
  readonly partitions?: readonly string[];
  readonly counts?: Readonly<Record<string, number>>;
  readonly oldest_unprocessed_seconds?: number;
  readonly problems?: readonly { readonly time: string }[];
  readonly outputs?: readonly { readonly id: string; readonly state: string }[];
  readonly [name: string]: unknown;
}

/** What all workers see alike (lag, rules, index sets) is said by one; what each has of its own is joined. */
function mergeStatus(
  answers: readonly StatusPart[],
  own: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const receivers = new Map(answers.flatMap((answer) => answer.receivers).map((receiver) => [receiver.name, receiver]));
  const newest = [...answers].sort((one, other) => epochOf(other) - epochOf(one))[0];
  const partitions = answers.some((answer) => answer.partitions !== undefined)
    ? { partitions: answers.flatMap((answer) => answer.partitions ?? []).sort() }
    : {};
  const counts = sumCounts(answers.map((answer) => answer.counts ?? {}));
  const oldest = Math.max(0, ...answers.map((answer) => answer.oldest_unprocessed_seconds ?? 0));
  const problems = answers
    .flatMap((answer) => answer.problems ?? [])
    .sort((one, other) => (one.time < other.time ? -1 : 1));
  const outputs = busiest(answers.flatMap((answer) => answer.outputs ?? []));
  return {
    index_sets: [],
    ...newest,
    receivers: [...receivers.values()],
    ...partitions,
    counts,
    oldest_unprocessed_seconds: oldest,
    problems,
    outputs,
    ...own,
  };
}

/** An output belongs to one of the workers; in the others it is idle. */
function busiest(outputs: NonNullable<StatusPart['outputs']>): readonly unknown[] {
  const byId = new Map<string, { readonly id: string; readonly state: string }>();
  for (const output of outputs) if (!byId.has(output.id) || output.state !== 'idle') byId.set(output.id, output);
  return [...byId.values()];
}

function epochOf(answer: StatusPart): number {
  return (answer['epoch'] as { readonly number?: number } | undefined)?.number ?? -1;
}

async function forwardTo(socketPath: string, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url, headers } = incoming;
  const outgoing = request({ socketPath, method, path: url, headers });
  response.on('close', () => outgoing.destroy());
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.once('error', (error) => reject(workerErrors.create('WORKERS_NONE_ANSWERS', { cause: error })));
  });
  await Promise.all([
    pipeline(incoming, outgoing),
    answered.then((answer) => {
      response.writeHead(answer.statusCode ?? 500, {
        'content-type': answer.headers['content-type'] ?? 'application/json',
      });
      return pipeline(answer, response);
    }),
  ]);
}
