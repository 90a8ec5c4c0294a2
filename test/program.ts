/** Starts the real program as a child process for a test, and ends it with the test. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { stringify } from 'yaml';
import { createControlClient, type ControlClient } from '../api/control/client.js';
import { controlSocketPath } from '../api/control/socket-path.js';
import { packageRoot } from '../core/process/package-root.js';
import { slowness } from './deadlines.js';

/** The compiled command line beside the running test. */
export const commandLine = join(import.meta.dirname, '..', 'cli.js');

interface ProgramOptions {
  /** Settings, as in sluice.yaml; receivers, admin and API listen on free ports unless named here. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** An existing folder, to start again on the same data. */
  readonly folder?: string;
  readonly role?: 'all' | 'receiver' | 'processor' | 'output' | 'api';
  readonly environment?: NodeJS.ProcessEnv;
  /** Comes before the command and replaces itself with it, as `ip netns exec <name>` does. */
  readonly within?: readonly string[];
  /** The compiled command line of another version of the program. */
  readonly commandLine?: string;
}

export interface Status {
  readonly pid: number;
  readonly receivers: readonly { readonly name: string; readonly protocol: string; readonly port: number }[];
  readonly lag: number;
  readonly rule_set_version: string;
  readonly admin_port: number;
  readonly epoch: { readonly number: number; readonly indices: Readonly<Record<string, string>> };
  readonly index_sets: readonly {
    readonly id: string;
    readonly indices: readonly {
      readonly name: string;
      readonly documents: number;
      readonly bytes: number;
      readonly open: boolean;
    }[];
  }[];
}

export interface Program {
  readonly folder: string;
  readonly settingsFile: string;
  readonly child: ChildProcess;
  readonly control: ControlClient;
  status(): Promise<Status>;
  port(protocol: 'gelf-tcp' | 'gelf-udp' | 'gelf-http'): number;
  /** What was written to standard output and error so far. */
  output(): string;
  /** Sends the signal and resolves with the exit code, or the signal's name. */
  end(signal?: NodeJS.Signals): Promise<number | string>;
}

/**
 * Node.js for `spawn`, without the hooks that the test runner adds to the variables of every child: `env` replaces
 * itself with it.
 */
export const node: readonly [command: string, ...leading: readonly string[]] = [
  '/usr/bin/env',
  '-u',
  'NODE_OPTIONS',
  process.execPath,
];

/** This process's variables without settings of the tests, which the program would take for its own. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(SLUICE_|NODE_OPTIONS$|_?TAP)/.test(name)),
  );
}

interface Teardown {
  teardown(action: () => Promise<void> | void): void;
}

export const receiversOnFreePorts = [
  { type: 'gelf_tcp', host: '127.0.0.1', port: 0 },
  { type: 'gelf_udp', host: '127.0.0.1', port: 0 },
  { type: 'gelf_http', host: '127.0.0.1', port: 0 },
];

export function testFolder(t: Teardown): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice test '));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function startProgram(t: Teardown, options: ProgramOptions = {}): Promise<Program> {
  const folder = options.folder ?? testFolder(t);
  const settingsFile = join(folder, `sluice-${options.role ?? 'all'}.yaml`);
  const dataFolder = join(folder, 'data');
  writeFileSync(
    settingsFile,
    stringify({
      data_folder: dataFolder,
      log_level: 'info',
      admin: { port: 0 },
      api: { port: 0 },
      receivers: receiversOnFreePorts,
      ...options.settings,
    }),
  );
  const [command, ...leading] = [...(options.within ?? []), ...node] as [string, ...string[]];
  const child = spawn(
    command,
    [
      ...leading,
      options.commandLine ?? commandLine,
      'start',
      '--config',
      settingsFile,
      '--role',
      options.role ?? 'all',
    ],
    {
      cwd: packageRoot,
      env: { ...cleanEnvironment(), ...options.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-200_000);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-200_000);
  });
  const ended = new Promise<number | string>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal ?? -1)),
  );
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const control = createControlClient(
    controlSocketPath(
      dataFolder,
      process.env['XDG_RUNTIME_DIR'],
      options.role === 'receiver' ||
        (options.role !== undefined && ['output', 'api'].includes(options.role) && (options.role as 'output' | 'api')),
    ),
  );
  const status = async (): Promise<Status> => (await control.request('GET', '/status')) as Status;
  const first = await until(
    async () => {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`the program ended: ${child.exitCode ?? child.signalCode}\n${output}`);
      if (!output.includes('is running')) return undefined;
      return status().catch(() => undefined);
    },
    60_000,
    () => `the program did not start:\n${output}`,
  );
  return {
    folder,
    settingsFile,
    child,
    control,
    status,
    port: (protocol) => first.receivers.find((receiver) => receiver.protocol === protocol)?.port ?? 0,
    output: () => output,
    end: (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
  };
}

/** Polls until there is an answer; the condition decides, not the clock. */
export async function until<Value>(
  probe: () => Promise<Value | undefined> | Value | undefined,
  deadlineMs: number,
  explain: () => string,
): Promise<Value> {
  const deadline = Date.now() + deadlineMs * slowness;
  for (;;) {
    const value = await probe();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(explain());
    await wait(50);
  }
}

/** Resolves when everything accepted has been processed. */
export function workedOff(program: Program, deadlineMs = 60_000): Promise<true> {
  return until(
    async () => ((await program.status()).lag === 0 ? true : undefined),
    deadlineMs,
    () => `the backlog was not worked off:\n${program.output().slice(-5000)}`,
  );
}
