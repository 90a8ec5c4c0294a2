/** `sluice start`: runs the program until a signal, and tells a newcomer what to do first. */
import { createAdminServer } from '../api/admin.js';
import { controlSocketPath, createControlServer } from '../api/control.js';
import { controlRoutes } from '../api/control-routes.js';
import { formatBytes } from '../core/bytes.js';
import { errorText } from '../core/errors.js';
import { createLog, type Log } from '../core/log.js';
import { Registry } from '../core/metrics.js';
import { packageVersion } from '../core/package-root.js';
import { releaseYoungGeneration } from '../core/young-generation.js';
import { Sluice, type Roles } from '../pipeline/sluice.js';
import type { Config } from '../schemas/config/config.js';

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
  const { config, roles } = options;
  const log = createLog(config.log_level, options.logFile);
  const registry = new Registry();
  let ended: (code: number) => void = () => undefined;
  const finished = new Promise<number>((resolve) => { ended = resolve; });
  const sluice = new Sluice({
    config, roles, registry, log,
    onFatal: (error) => {
      log.fatal({ error: errorText(error) }, 'cannot go on; stopping');
      ended(1);
    },
  });
  const interrupted = catchSignals(log, ended);
  const admin = createAdminServer({
    host: config.admin.host, port: config.admin.port, registry, collect: async () => sluice.processor?.collect(),
    live: () => ({ ok: true, checks: [{ name: 'event loop', ok: true, reason: 'answers' }] }), ready: () => sluice.ready(),
  });
  const socketPath = controlSocketPath(config.data_folder, options.runtimeFolder, !roles.processor);
  const control = createControlServer(socketPath, controlRoutes(sluice, () => (config.admin.enabled ? admin.port() : undefined)));
  try {
    if (config.admin.enabled) await admin.start();
    await sluice.start();
    await control.start();
    releaseYoungGeneration();
    if (!options.quiet) options.say(banner(config, sluice, config.admin.enabled ? admin.port() : undefined));
    log.info({ version: packageVersion, inflater: sluice.inflaterName, receivers: sluice.receivers.map((receiver) => receiver.address()) }, 'started');
    return await finished;
  } finally {
    await control.stop();
    await sluice.stop(stopDeadlineMs);
    await admin.stop();
    interrupted();
    log.info('stopped');
  }
}

/** The first signal stops, the second ends at once. */
function catchSignals(log: Log, ended: (code: number) => void): () => void {
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    signals += 1;
    if (signals > 1) process.exit(130);
    log.info({ signal }, 'stopping; a second signal ends at once');
    ended(0);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return () => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  };
}

function banner(config: Config, sluice: Sluice, adminPort: number | undefined): string {
  const lines = [`Sluice ${packageVersion} is running.`, ''];
  for (const receiver of sluice.receivers) {
    const { protocol, host, port, tls } = receiver.address();
    lines.push(`  ${`${protocol}${tls ? ' (TLS)' : ''}`.padEnd(12)} ${host}:${port}`);
  }
  if (adminPort !== undefined) lines.push(`  ${'admin'.padEnd(12)} http://${config.admin.host}:${adminPort}/metrics, /health/ready`);
  lines.push(`  ${'topics'.padEnd(12)} ${config.topics.kind === 'kafka' ? `Kafka at ${config.topics.kafka.brokers.join(', ')}` : `${config.data_folder}/topics`}`);
  if (sluice.store !== undefined) {
    const cap = sluice.maxTotalBytes === undefined ? '' : ` (at most ${formatBytes(sluice.maxTotalBytes)} in all)`;
    lines.push(`  ${'index sets'.padEnd(12)} ${config.store.kind === 'opensearch' ? `OpenSearch at ${config.store.opensearch.nodes.join(', ')}` : `${config.data_folder}/indices${cap}`}`);
  }
  lines.push(`  ${'inflater'.padEnd(12)} ${sluice.inflaterName}`, ...firstSteps(sluice));
  return `${lines.join('\n')}\n`;
}

function firstSteps(sluice: Sluice): string[] {
  const tcp = sluice.receivers.map((receiver) => receiver.address()).find(({ protocol, tls }) => protocol === 'gelf-tcp' && !tls);
  const http = sluice.receivers.map((receiver) => receiver.address()).find(({ protocol, tls }) => protocol === 'gelf-http' && !tls);
  const message = '{"version":"1.1","host":"my-host","short_message":"hello sluice"}';
  const lines: string[] = [];
  if (http !== undefined) lines.push('', 'Send a first message:', `  curl -s -d '${message}' http://127.0.0.1:${http.port}/gelf`);
  else if (tcp !== undefined) lines.push('', 'Send a first message:', `  printf '${message}\\0' > /dev/tcp/127.0.0.1/${tcp.port}`);
  if (sluice.store !== undefined) lines.push('Find it (in a second terminal, in this folder):', "  npx sluice search 'hello'");
  return lines;
}
