/** One process of the program over its restarts, with settings that may change between two of them. */
import { startProgram, type Program } from '../../program.js';
import type { HttpProxy } from '../causes/http-proxy.js';
import type { Host } from '../causes/network.js';
import type { Process } from './world.js';

interface ProcessOptions {
  readonly name: string;
  readonly role: 'all' | 'receiver' | 'processor' | 'output';
  readonly folder: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly proxy?: HttpProxy | undefined;
  readonly host?: Host | undefined;
  readonly environment?: NodeJS.ProcessEnv | undefined;
  /** Where the program's teardown goes. */
  readonly cleanup: { teardown(action: () => Promise<void> | void): void };
}

/** A run that is ended at once must not leave them running. */
const running = new Set<Program>();
process.once('exit', () => running.forEach((program) => program.child.kill('SIGKILL')));

type Settings = Readonly<Record<string, unknown>>;

/** Objects are laid over each other, everything else replaces. */
export function merge(base: Settings, over: Settings): Settings {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const before = merged[key];
    merged[key] = isPlain(before) && isPlain(value) ? merge(before, value) : value;
  }
  return merged;
}

function isPlain(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function createProcess(options: ProcessOptions): Process {
  const { name, role, folder, host } = options;
  let settings = options.settings;
  let program: Program | undefined;
  let paused = false;
  let ending: Promise<unknown> | undefined;
  const current = (): Program => {
    if (program === undefined) throw new Error(`${name} does not run`);
    return program;
  };
  return {
    name,
    role,
    folder,
    host,
    proxy: options.proxy,
    get running() {
      return program !== undefined && program.child.exitCode === null && program.child.signalCode === null;
    },
    get paused() {
      return paused;
    },
    program: current,
    async start() {
      await ending;
      program = await startProgram(options.cleanup, {
        folder,
        settings,
        role,
        environment: options.environment ?? {},
        ...(host === undefined ? {} : { within: host.within }),
      });
      running.add(program);
      return program;
    },
    async end(signal) {
      const ended = current();
      ending = ended.end(signal);
      await ending;
      running.delete(ended);
    },
    pause: () => {
      paused = true;
      current().child.kill('SIGSTOP');
    },
    resume: () => {
      paused = false;
      current().child.kill('SIGCONT');
    },
    change: (over) => {
      settings = merge(settings, over);
    },
  };
}
