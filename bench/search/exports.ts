/** Exports through the API and the command line: rows, order, speed, and what memory of the program they take. */
import { spawn } from 'node:child_process';
import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Scope } from '../../test/endurance/scope.js';
import { cleanEnvironment, commandLine, node } from '../../test/program.js';
import { forgetPeak, peakMebibytes, residentMebibytes } from './figures.js';
import type { World } from './world.js';

interface Counted {
  /** Without the head. */
  readonly rows: number;
  readonly bytes: number;
  readonly outOfOrder: number;
}

const quote = 0x22;
const newline = 0x0a;
/** `"2026-11-21T13:00:00.000Z"` at the beginning of each row. */
const timeLength = 26;

/**
 * Counts rows of a CSV file, whose line ends within quotes are none, and those whose first cell is later than that of
 * the row before.
 */
function createCounter(): { take(piece: Buffer): void; end(): Counted } {
  let [lines, bytes, outOfOrder, within] = [0, 0, 0, false];
  let head = '';
  let last = '"9';
  const take = (piece: Buffer): void => {
    bytes += piece.length;
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at] as number;
      if (head.length < timeLength) head += String.fromCharCode(byte);
      if (byte === quote) within = !within;
      if (byte !== newline || within) continue;
      if (lines > 0 && head > last) outOfOrder += 1;
      if (lines > 0) last = head;
      lines += 1;
      head = '';
    }
  };
  return { take, end: () => ({ rows: Math.max(0, lines - 1), bytes, outOfOrder }) };
}

interface ExportOptions {
  readonly rows: number;
  readonly targetMebibytes: number;
  readonly say: (line: string) => void;
}

const fields = ['timestamp', 'source', 'message', 'namespace', 'pod', 'level'];
/**
 * A process that has just started takes its heaps and its engine's pages with the first work of any kind: that is told
 * apart.
 */
const warmRows = 100_000;
/** What searches before have left behind is given back first. */
const settleMs = 2_000;

export async function benchExports(scope: Scope, world: World, options: ExportOptions): Promise<void> {
  const rows = Math.min(options.rows, warmRows);
  await measured('API, first', world, { ...options, rows }, () => throughApi(world, rows));
  await measured('API', world, options, () => throughApi(world, options.rows));
  await measured('command line', world, options, () => throughCommandLine(scope, world, options.rows));
}

async function measured(
  name: string,
  world: World,
  { rows: wanted, targetMebibytes, say }: ExportOptions,
  run: () => Promise<Counted & { readonly more: string }>,
): Promise<void> {
  const { pid } = await world.program.status();
  await wait(settleMs);
  forgetPeak(pid);
  const before = residentMebibytes(pid);
  const began = performance.now();
  const { rows, bytes, outOfOrder, more } = await run();
  const seconds = (performance.now() - began) / 1000;
  const grown = peakMebibytes(pid) - before;
  const whole = rows === wanted && outOfOrder === 0;
  say(
    `  export by ${name.padEnd(12)} ${rows} rows${whole ? '' : ` of ${wanted}, ${outOfOrder} OUT OF ORDER`}, ${(bytes / 2 ** 20).toFixed(0)} MiB in ${seconds.toFixed(1)} s, ${Math.round(rows / seconds)} rows/s, ${before.toFixed(0)} MiB before, at most ${grown.toFixed(0)} MiB more${more};` +
      ` target ${targetMebibytes} MiB: ${whole && grown <= targetMebibytes ? 'met' : 'MISSED'}`,
  );
}

async function throughApi({ api }: World, rows: number): Promise<Counted & { readonly more: string }> {
  const counter = createCounter();
  const status = await api.stream(
    'Admin',
    {
      method: 'POST',
      path: '/api/views/search/messages',
      body: { query_string: '', timerange: { type: 'relative', range: 0 }, fields_in_order: fields, limit: rows },
    },
    counter.take,
  );
  return { ...counter.end(), more: status === 200 ? '' : `, status ${status}` };
}

async function throughCommandLine(
  scope: Scope,
  { program, folder }: World,
  rows: number,
): Promise<Counted & { readonly more: string }> {
  const file = join(folder, 'export.csv');
  const child = spawn(
    node[0],
    [
      ...node.slice(1),
      commandLine,
      'export',
      '',
      '--last',
      'all',
      '--limit',
      String(rows),
      '--fields',
      fields.join(','),
      '--output',
      file,
      '--quiet',
      '--config',
      program.settingsFile,
    ],
    { env: cleanEnvironment(), stdio: ['ignore', 'ignore', 'pipe'] },
  );
  scope.teardown(() => {
    child.kill('SIGKILL');
  });
  let [complaint, peak] = ['', 0];
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  const watching = setInterval(() => {
    try {
      peak = Math.max(peak, peakMebibytes(child.pid as number));
    } catch {
      // It has ended.
    }
  }, 200);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(watching);
  const counter = createCounter();
  if (code === 0)
    for await (const piece of createReadStream(file, { highWaterMark: 2 ** 20 })) counter.take(piece as Buffer);
  rmSync(file, { force: true });
  return {
    ...counter.end(),
    more: `, its own process ${peak.toFixed(0)} MiB${code === 0 ? '' : `, exit code ${String(code)}: ${complaint.slice(0, 300)}`}`,
  };
}
