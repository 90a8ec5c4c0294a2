/**
 * What the tests of dead letters share: the command line as a user calls it, messages that are refused, and counting
 * what is stored.
 */
import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import type { ControlClient } from '../../../api/control/client.js';
import * as verbsOf from '../../../cli/dead-letters/run.js';
import type { DeadLetterFlags } from '../../../cli/dead-letters/run.js';
import { packageRoot } from '../../../core/process/package-root.js';
import type { SearchResult } from '../../../schemas/query.js';
import { cleanEnvironment, commandLine, node, until, workedOff, type Program } from '../../program.js';

const run = promisify(execFile);

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** `sluice <arguments>` beside the running program. */
export async function sluice(program: Pick<Program, 'settingsFile'>, verbs: readonly string[]): Promise<Ended> {
  const [command, ...leading] = node;
  const [group = '', verb = '', ...rest] = verbs;
  const call = [...leading, commandLine, group, verb, '--config', program.settingsFile, ...rest];
  try {
    const { stdout, stderr } = await run(command, call, {
      cwd: packageRoot,
      env: { ...cleanEnvironment(), NO_COLOR: '1' },
    });
    return { code: 0, out: stdout, err: stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: stdout, err: stderr };
  }
}

/** Frames of one TCP connection; resolves when the program has closed its side. */
export function sendFrames(port: number, frames: readonly (string | Buffer)[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      for (const frame of frames) {
        socket.write(frame);
        socket.write('\0');
      }
      socket.end();
    });
    socket
      .on('error', reject)
      .on('close', () => resolve())
      .resume();
  });
}

export async function sendDatagrams(port: number, datagrams: readonly Buffer[]): Promise<void> {
  const socket = createSocket('udp4');
  for (const datagram of datagrams)
    await new Promise<void>((resolve) => socket.send(datagram, port, '127.0.0.1', () => resolve()));
  await new Promise<void>((resolve) => socket.close(() => resolve()));
}

export async function search(program: Program, query: string, sets?: readonly string[]): Promise<SearchResult> {
  await program.control.request('POST', '/refresh', {});
  return (await program.control.request('POST', '/search', { query, index_sets: sets, limit: 1_000 })) as SearchResult;
}

interface ListedDeadLetter {
  readonly _id: string;
  readonly _index: string;
  readonly [field: string]: unknown;
}

/** Tells of each progress line before it goes on. */
function watched(control: ControlClient, onProgress: (done: number) => void): ControlClient {
  return {
    request: (...call) => control.request(...call),
    stream: (path, body, onLine) =>
      control.stream(path, body, (line) => {
        onProgress((line as { progress?: { done: number } }).progress?.done ?? 0);
        return onLine(line);
      }),
  };
}

/**
 * A verb of `sluice dead-letters` without a process of its own, which takes a second; interrupted when so many dead
 * letters are done.
 */
export async function deadLettersVerb(
  program: Pick<Program, 'control'>,
  verb: 'list' | 'show' | 'replay' | 'drop',
  ids: readonly string[],
  flags: DeadLetterFlags = {},
  interruptAt = Infinity,
): Promise<Ended> {
  const interrupted = new AbortController();
  const control = watched(program.control, (done) => {
    if (done >= interruptAt) interrupted.abort();
  });
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = {
    print: (line: string) => void out.push(line),
    note: (line: string) => void err.push(line),
    color: false,
    now: Date.now,
    signal: interrupted.signal,
    progress: undefined,
  };
  const verbs = {
    list: () => verbsOf.listDeadLetters(flags, control, terminal),
    show: () => verbsOf.showDeadLetter(ids[0] ?? '', flags, control, terminal),
    replay: () => verbsOf.replayDeadLetters(ids, flags, control, terminal),
    drop: () => verbsOf.dropDeadLetters(ids, flags, control, terminal),
  };
  const code = await verbs[verb]();
  return { code, out: out.join('\n'), err: err.join('\n') };
}

export async function listDeadLetters(
  program: Pick<Program, 'control'>,
  flags: DeadLetterFlags = {},
): Promise<ListedDeadLetter[]> {
  const { out } = await deadLettersVerb(program, 'list', [], { limit: 10_000, json: true, ...flags });
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ListedDeadLetter);
}

/** Polls until there are so many dead letters. */
export async function untilDeadLetters(
  program: Program,
  count: number,
  flags: DeadLetterFlags = {},
): Promise<ListedDeadLetter[]> {
  await workedOff(program);
  return until(
    async () => {
      const deadLetters = await listDeadLetters(program, flags);
      return deadLetters.length >= count ? deadLetters : undefined;
    },
    60_000,
    () => `no ${count} dead letters:\n${program.output().slice(-3000)}`,
  );
}
