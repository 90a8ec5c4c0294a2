/** `sluice start`: runs the program until a signal, as one process or as several workers. */
import { createAdminServer } from '../../api/admin.js';
import { createControlServer } from '../../api/control/server.js';
import { controlSocketPath } from '../../api/control/socket-path.js';
import { errorText } from '../../core/errors.js';
import { createLog } from '../../core/log.js';
import { collectProcessMetrics, Registry } from '../../core/metrics.js';
import { packageVersion } from '../../core/process/package-root.js';
import { createRecentProblems } from '../../core/recent-problems.js';
import { catchSignals, interruptedCode } from '../../core/process/signals.js';
import type { Roles } from '../../program/sluice.js';
import type { Config } from '../../schemas/config/config.js';
import { createWorkers, workerCount } from '../../program/workers/run.js';
import { banner, firstPasswordsText } from './banner.js';
import { reportFailure } from '../failure.js';
import type { RunningProgram } from '../../program/workers/contract.js';
import { startEvents } from './events.js';

/** A stop that takes longer is cut: what is not stored yet is durable in the topics. */
const stopDeadlineMs = 15_000;

export interface StartOptions {
  readonly config: Config;
  readonly roles: Roles;
  readonly quiet: boolean;
  readonly runtimeFolder: string | undefined;
  /** Writes to the terminal; logs go to standard output as JSON when it is not one. */
  readonly say: (text: string) => void;
  readonly logFile?: string | undefined;
}

/** Resolves with the exit code when the program has stopped. Rejects when it cannot start. */
export async function runStart(options: StartOptions): Promise<number> {
  const { config, roles, runtimeFolder, logFile } = options;
  const problems = createRecentProblems();
  const log = createLog(config.log_level, logFile, problems);
  const registry = new Registry();
  collectProcessMetrics(registry);
  const workers = workerCount(config, roles);
  const { promise: finished, resolve: ended } = withResolvers<number>();
  const onFatal = (error: unknown): void => {
    startEvents.programFailed(log, { error: errorText(error) });
    ended(reportFailure(error));
  };
  const adminPort = (): number | undefined => (config.admin.enabled ? admin.port() : undefined);
  const socketPath = (worker?: number): string =>
    controlSocketPath(
      config.data_folder,
      runtimeFolder,
      roles.processor ? false : roles.receiver || (roles.output === true ? 'output' : 'api'),
      worker,
    );
  const program: RunningProgram =
    workers > 1
      ? createWorkers({
          config,
          roles,
          count: workers,
          log,
          logFile,
          registry,
          controlPathOf: socketPath,
          adminPort,
          onFatal,
        })
      : (await import('./one-process.js')).createOneProcess(
          { config, roles, registry, log, problems, onFatal },
          adminPort,
        );
  const admin = createAdminServer({
    host: config.admin.host,
    port: config.admin.port,
    metrics: () => program.metricsText(),
    live: () => ({ ok: true, checks: [{ name: 'event loop', ok: true, reason: 'answers' }] }),
    ready: () => program.ready(),
  });
  const control = createControlServer(socketPath(), program.controlRoutes, program.forward);
  const interrupted = catchSignals(
    (signal) => {
      startEvents.stopRequested(log, { signal });
      ended(0);
    },
    () => {
      program.kill();
      process.exit(interruptedCode);
    },
  );
  try {
    if (config.admin.enabled) await admin.start();
    const facts = await Promise.race([program.start(), finished.then(() => undefined)]);
    if (facts === undefined) return await finished;
    await control.start();
    options.say(firstPasswordsText(facts));
    if (!options.quiet) options.say(banner(config, { ...facts, workers, adminPort: adminPort() }));
    startEvents.programStarted(log, {
      version: packageVersion,
      inflater: facts.inflater,
      workers,
      receivers: facts.receivers,
    });
    return await finished;
  } finally {
    await control.stop();
    await program.stop(stopDeadlineMs);
    await admin.stop();
    interrupted();
    startEvents.programStopped(log);
  }
}

function withResolvers<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
