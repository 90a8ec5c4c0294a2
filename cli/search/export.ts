/** `sluice export '<query>'`: every message of a query as a file, of one snapshot, with progress. */
import { rm } from 'node:fs/promises';
import { createWriteStream, renameSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import cliProgress from 'cli-progress';
import type { ControlClient } from '../../api/control/client.js';
import type { ExportBody, ExportLine } from '../../api/control/search.js';
import { drained } from '../../core/wait.js';
import { toldError } from '../../core/process/told-error.js';
import { namesOf } from '../names.js';
import { searchErrors } from '../../search/errors.js';
import { parseQuery, type QueryOptions } from '../../search/language/parser.js';
import { isQueryProblem, pointAt, problemText } from '../../search/language/problem.js';
import { readSort } from '../../search/language/sort-text.js';
import { parseTimeRange } from '../../search/language/time-range.js';

export interface ExportFlags {
  readonly query: string;
  /** Of the settings. */
  readonly allowed?: QueryOptions | undefined;
  readonly last?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Names joined by commas. */
  readonly fields?: string | undefined;
  /** `<field>:asc` or `<field>:desc`. */
  readonly sort?: string | undefined;
  readonly limit?: number | undefined;
  readonly indexSet?: string | undefined;
  readonly format?: 'csv' | 'json' | undefined;
  /** Undefined: standard output. */
  readonly output?: string | undefined;
  readonly quiet?: boolean | undefined;
}

export interface ExportTerminal {
  readonly output: Writable;
  note(line: string): void;
  /** Where the progress goes; undefined: nowhere. */
  readonly progress: NodeJS.WriteStream | undefined;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** 0: all of it; 2: what was asked for cannot be read; 130: interrupted, and no file is left. */
export async function runExport(
  flags: ExportFlags,
  control: Pick<ControlClient, 'stream'>,
  terminal: ExportTerminal,
): Promise<0 | 2 | 130> {
  const problem = parseQuery(flags.query, { ...flags.allowed, now: terminal.now() });
  if (isQueryProblem(problem)) {
    terminal.note(`${pointAt(flags.query, problem)}\n${problemText(problem)}`);
    return 2;
  }
  const body = bodyOf(flags, terminal.now());
  // A file that is not whole never has the name that was asked for.
  const part = flags.output === undefined ? undefined : `${flags.output}.part`;
  const output = part === undefined ? terminal.output : createWriteStream(part);
  try {
    const rows = await receive(body, control, terminal, output);
    if (part !== undefined) await closed(output);
    if (terminal.signal.aborted) {
      await discard(part);
      if (flags.quiet !== true)
        terminal.note(`Interrupted after ${rows} messages${part === undefined ? '' : '; the file was removed'}.`);
      return 130;
    }
    if (part !== undefined) renameSync(part, flags.output as string);
    if (flags.quiet !== true)
      terminal.note(rows === 0 ? 'No message matches.' : `${rows} ${rows === 1 ? 'message' : 'messages'}.`);
    return 0;
  } catch (thrown) {
    output.destroy();
    await discard(part);
    throw thrown;
  }
}

function bodyOf(flags: ExportFlags, now: number): ExportBody {
  const open = flags.from === undefined && flags.to === undefined;
  const { from, to } = parseTimeRange(
    { last: flags.last ?? (open ? '15m' : undefined), from: flags.from, to: flags.to },
    now,
  );
  const given = {
    query: flags.query,
    from,
    to,
    limit: flags.limit,
    sort: flags.sort === undefined ? undefined : readSort(flags.sort, '--sort'),
    fields: namesOf(flags.fields),
    index_sets: namesOf(flags.indexSet),
    format: flags.format,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

async function receive(
  body: ExportBody,
  control: Pick<ControlClient, 'stream'>,
  terminal: ExportTerminal,
  output: Writable,
): Promise<number> {
  const bar =
    terminal.progress === undefined
      ? undefined
      : new cliProgress.SingleBar(
          {
            format: 'exported {value} of {total} |{bar}| {percentage}%, {eta_formatted} left',
            stream: terminal.progress,
            noTTYOutput: true,
            notTTYSchedule: 5000,
            hideCursor: true,
          },
          cliProgress.Presets.shades_classic,
        );
  // The next piece, or the end, asks what has happened.
  output.on('error', () => undefined);
  let rows = 0;
  let done = false;
  try {
    await control.stream(
      '/export',
      body,
      async (value) => {
        const line = value as ExportLine;
        if ('error' in line) throw toldError(line.error);
        if ('total' in line) bar?.start(line.total, 0);
        else if ('done' in line) done = true;
        else {
          rows += line.rows;
          if (!output.write(line.text)) await drained(output);
          if (output.destroyed) await finished(output, { cleanup: true });
          bar?.update(rows);
        }
      },
      terminal.signal,
    );
  } finally {
    bar?.stop();
  }
  if (!done && !terminal.signal.aborted)
    throw searchErrors.create('SEARCH_CANCELLED', { got: 'an answer that broke off' });
  return rows;
}

/** Rejects when not everything could be written. */
async function closed(output: Writable): Promise<void> {
  output.end();
  await finished(output, { cleanup: true });
}

async function discard(part: string | undefined): Promise<void> {
  if (part !== undefined) await rm(part, { force: true });
}
