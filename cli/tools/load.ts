/** `sluice load`: synthetic traffic with a progress bar, and a verification. */
import { readFileSync } from 'node:fs';
import cliProgress from 'cli-progress';
import type { LoadOptions, Transport } from '../../load/contract.js';
import { loadErrors } from '../../load/errors.js';
import { runText, verifyText } from '../../load/report.js';
import { runLoad } from '../../load/run.js';
import { verify, waitUntilSettled, type VerifySources } from '../../load/verify.js';
import { parseDuration } from '../../core/time/durations.js';

export interface LoadCommandOptions {
  readonly rate?: number | undefined;
  /** `60s` */
  readonly for?: string | undefined;
  readonly count?: number | undefined;
  readonly transport?: string | undefined;
  readonly connections?: number | undefined;
  readonly host?: string | undefined;
  /** Of the one transport; with `mix` of TCP and UDP. */
  readonly port?: number | undefined;
  readonly tlsPort?: number | undefined;
  readonly httpPort?: number | undefined;
  readonly ca?: string | undefined;
  readonly token?: string | undefined;
  readonly seed?: number | undefined;
  readonly bytes?: number | undefined;
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  /** How long the verification waits for the pipeline, `60s`. */
  readonly wait?: string | undefined;
}

export interface LoadTerminal {
  print(text: string): void;
  readonly signal: AbortSignal;
  /** Where the progress goes; undefined: nowhere. */
  readonly progress: NodeJS.WriteStream | undefined;
}

const transports: readonly string[] = ['tcp', 'tls', 'udp', 'http', 'mix'];

/**
 * Resolves with the exit code: 1 when an accepted message is missing or doubled. Rejects with a typed error when the
 * load cannot run.
 */
export async function runLoadCommand(
  command: LoadCommandOptions,
  terminal: LoadTerminal,
  sources?: VerifySources,
): Promise<0 | 1> {
  const options = readOptions(command);
  const waitMs = readDuration('wait', command.wait ?? '60s');
  const bar = command.json === true || command.quiet === true ? undefined : createBar(options, terminal.progress);
  const run = await runLoad({ ...options, signal: terminal.signal, onProgress: bar?.update }).finally(() =>
    bar?.stop(),
  );
  if (command.json !== true) terminal.print(runText(run));
  if (sources === undefined) {
    if (command.json === true) terminal.print(JSON.stringify({ run: { ...run, lanes: run.lanes.length } }));
    return 0;
  }
  const settled = await waitUntilSettled(run, sources, { deadlineMs: waitMs, pollMs: 500 });
  const report = await verify(run, sources, settled);
  terminal.print(
    command.json === true
      ? JSON.stringify({ run: { ...run, lanes: run.lanes.length }, verify: report })
      : verifyText(report),
  );
  return report.ok ? 0 : 1;
}

export function readOptions(command: LoadCommandOptions): LoadOptions {
  const transport = command.transport ?? 'tcp';
  if (!transports.includes(transport))
    throw loadErrors.create('LOAD_OPTION_INVALID', {
      place: 'transport',
      got: transport,
      allowed: transports.join(', '),
    });
  const ports: Partial<Record<Transport, number>> = {};
  if (command.port !== undefined)
    for (const kind of transport === 'mix' ? (['tcp', 'udp'] as const) : [transport as Transport])
      ports[kind] = command.port;
  if (command.tlsPort !== undefined) ports.tls = command.tlsPort;
  if (command.httpPort !== undefined) ports.http = command.httpPort;
  return {
    rate: command.rate ?? 1000,
    forMs: readDuration('for', command.for ?? '60s'),
    count: command.count,
    transport: transport as LoadOptions['transport'],
    connections: command.connections ?? 4,
    host: command.host ?? '127.0.0.1',
    ports,
    seed: command.seed ?? 1,
    bytes: command.bytes ?? 420,
    ca: command.ca === undefined ? undefined : readFileSync(command.ca),
    token: command.token,
  };
}

function readDuration(place: string, text: string): number {
  return parseDuration(text) ?? refuseDuration(place, text);
}

function refuseDuration(place: string, got: string): never {
  throw loadErrors.create('LOAD_OPTION_INVALID', { place, got, allowed: '30s, 5m, 1h' });
}

/**
 * Seconds when the load ends by time, messages when it ends by count. Lines instead of a bar where there is no
 * terminal.
 */
function createBar(
  options: LoadOptions,
  stream: NodeJS.WriteStream | undefined,
): { update: NonNullable<LoadOptions['onProgress']>; stop: () => void } | undefined {
  if (stream === undefined) return undefined;
  const total = options.count ?? Math.round(options.forMs / 1000);
  const format = `load {bar} {percentage} %  {sent} sent  {rate} a second`;
  const bar = new cliProgress.SingleBar(
    { format, stream, noTTYOutput: true, notTTYSchedule: 5000, hideCursor: true, clearOnComplete: false },
    cliProgress.Presets.shades_classic,
  );
  bar.start(total, 0, { sent: '0', rate: '-' });
  return {
    update: ({ sent, elapsedMs, rate }) =>
      bar.update(Math.min(total, options.count === undefined ? Math.round(elapsedMs / 1000) : sent), {
        sent: sent.toLocaleString('en-US'),
        rate: Math.round(rate).toLocaleString('en-US'),
      }),
    stop: () => bar.stop(),
  };
}
