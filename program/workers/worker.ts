/**
 * The main module of a worker process: runs receivers and processors as the primary process says, until it says stop.
 */
import { apiStopShare } from '../../api/api.js';
import { createControlServer } from '../../api/control/server.js';
import { composeApi, composeControlRoutes } from '../api/api.js';
import { errorText } from '../../core/errors.js';
import { createLog } from '../../core/log.js';
import { collectProcessMetrics, Registry } from '../../core/metrics.js';
import { createRecentProblems } from '../../core/recent-problems.js';
import { catchSignals, interruptedCode } from '../../core/process/signals.js';
import { tellError } from '../../core/process/told-error.js';
import { holdYoungGeneration } from '../../core/process/young-generation.js';
import { Sluice } from '../sluice.js';
import { workerPaths, type FromWorker, type ToWorker, type WorkerStart } from './contract.js';
import { programEvents } from '../events.js';

/** Of a stop that no primary process asked for: a signal to this worker alone. */
const ownStopDeadlineMs = 15_000;

holdYoungGeneration();
let begun = false;
process.on('message', (message: ToWorker) => {
  if (message.type === 'stop' && !begun) process.exit(0);
  if (message.type !== 'start') return;
  begun = true;
  run(message).then(
    (code) => process.exit(code),
    (error: unknown) => {
      tell({ type: 'failed', error: { ...tellError(error), message: errorText(error) } }, () => process.exit(1));
    },
  );
});
tell({ type: 'online' });

async function run(start: WorkerStart): Promise<number> {
  const { config, roles, index, count } = start;
  const problems = createRecentProblems();
  const log = createLog(config.log_level, start.logFile, problems).child({ worker: index });
  const registry = new Registry();
  collectProcessMetrics(registry);
  let end: (result: { code: number; deadlineMs: number }) => void = () => undefined;
  const finished = new Promise<{ code: number; deadlineMs: number }>((resolve) => {
    end = resolve;
  });
  const sluice = new Sluice({
    config,
    roles,
    registry,
    log,
    problems,
    worker: { index, count },
    onFatal: (error) => {
      programEvents.workerFailed(log, { error: errorText(error) });
      tell({ type: 'failed', error: { ...tellError(error), message: errorText(error) } });
      end({ code: 1, deadlineMs: ownStopDeadlineMs });
    },
  });
  process.on('message', (message: ToWorker) => {
    if (message.type === 'stop') end({ code: 0, deadlineMs: message.deadlineMs });
  });
  catchSignals(
    () => end({ code: 0, deadlineMs: ownStopDeadlineMs }),
    () => process.exit(interruptedCode),
  );
  const parts = { sluice, config, log, registry };
  const control = createControlServer(start.controlPath, {
    ...composeControlRoutes(parts, () => undefined),
    [`GET ${workerPaths.ready}`]: () => sluice.ready(),
    [`GET ${workerPaths.metrics}`]: async () => {
      await sluice.processor?.collect();
      await sluice.outputs?.collect();
      return registry.getMetricsAsJSON();
    },
  });
  const api = roles.api === true && index === 1 ? composeApi(parts) : undefined;
  let deadlineMs = ownStopDeadlineMs;
  try {
    await control.start();
    const stoppedEarly = await Promise.race([
      sluice
        .start()
        .then(() => api?.start())
        .then(() => sluice.startRuntimeReceivers()),
      finished,
    ]);
    if (stoppedEarly !== undefined) return stoppedEarly.code;
    const receivers = sluice.receivers.map((receiver) => ({ name: receiver.name, ...receiver.address() }));
    tell({
      type: 'ready',
      facts: {
        receivers,
        inflater: sluice.inflaterName,
        stores: sluice.store !== undefined,
        maxTotalBytes: sluice.maxTotalBytes,
        api: api?.address(),
        firstPasswords: api?.firstPasswords(),
      },
    });
    programEvents.workerStarted(log, { receivers });
    const result = await finished;
    ({ deadlineMs } = result);
    return result.code;
  } finally {
    await api?.stop(deadlineMs * apiStopShare);
    await sluice.stop(deadlineMs);
    await control.stop();
    programEvents.workerStopped(log);
  }
}

function tell(message: FromWorker, sent: () => void = () => undefined): void {
  if (process.send === undefined || !process.connected) return sent();
  process.send(message, undefined, undefined, () => sent());
}
