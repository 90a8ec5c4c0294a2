/** What `sluice dead-letters` asks of the running program. */
import { userInfo } from 'node:os';
import cliProgress from 'cli-progress';
import type { ControlClient } from '../../api/control/client.js';
import type { DeadLettersBody } from '../../api/control/dead-letters.js';
import { toldError, type ToldError } from '../../core/process/told-error.js';
import type { DropReport, PlanReport, ReplayReport } from '../../pipeline/dead-letters/contract.js';
import type { SearchHit } from '../../schemas/query.js';
import { parseTimeRange } from '../../search/language/time-range.js';
import { dropPlanText, dropText, deadLetterLine, deadLetterText, planText, replayText } from './output.js';
import { hitLine, safeJson } from '../search/output.js';

export interface DeadLetterFlags {
  readonly config?: string;
  readonly code?: string;
  readonly reason?: string;
  readonly receiver?: string;
  readonly peer?: string;
  readonly indexSet?: string;
  readonly state?: DeadLettersBody['state'];
  readonly query?: string;
  readonly last?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit?: number;
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

export interface DeadLetterTerminal {
  print(line: string): void;
  note(line: string): void;
  readonly color: boolean;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Where the progress goes; undefined: nowhere. */
  readonly progress: NodeJS.WriteStream | undefined;
}

export function bodyOf(ids: readonly string[], flags: DeadLetterFlags, now: number): DeadLettersBody {
  const { code, reason, receiver, peer, indexSet, state, query, limit, all } = flags;
  const range = parseTimeRange({ last: flags.last, from: flags.from, to: flags.to }, now);
  const given = {
    code,
    reason,
    receiver,
    peer,
    index_set: indexSet,
    state,
    query,
    limit,
    all,
    from: range.from,
    to: range.to,
    ids: ids.length === 0 ? undefined : ids,
    dry_run: flags.dryRun,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

export async function listDeadLetters(
  flags: DeadLetterFlags,
  control: ControlClient,
  terminal: DeadLetterTerminal,
): Promise<0> {
  let shown = 0;
  const interrupted = new Error('interrupted');
  await control
    .stream('/dead-letters/list', bodyOf([], flags, terminal.now()), (value) => {
      if (terminal.signal.aborted) throw interrupted;
      const line = value as { readonly deadLetter: SearchHit } | { readonly total: number };
      if ('deadLetter' in line) {
        shown += 1;
        terminal.print(
          flags.json === true
            ? hitLine(line.deadLetter, { json: true, fields: undefined, color: false })
            : deadLetterLine(line.deadLetter, terminal.color),
        );
      } else if (flags.json !== true && flags.quiet !== true)
        terminal.note(
          line.total === shown ? `${shown} dead letters` : `${shown} of ${line.total} dead letters; --limit shows more`,
        );
    })
    .catch((error: unknown) => {
      if (error !== interrupted) throw error;
    });
  return 0;
}

export async function showDeadLetter(
  id: string,
  flags: DeadLetterFlags,
  control: ControlClient,
  terminal: DeadLetterTerminal,
): Promise<0> {
  const deadLetter = (await control.request('POST', '/dead-letters/show', { ids: [id] })) as SearchHit;
  terminal.print(
    flags.json === true
      ? hitLine(deadLetter, { json: true, fields: undefined, color: false })
      : deadLetterText(deadLetter),
  );
  return 0;
}

/** 1 when some failed again, had no answer, or the replay was interrupted. */
export async function replayDeadLetters(
  ids: readonly string[],
  flags: DeadLetterFlags,
  control: ControlClient,
  terminal: DeadLetterTerminal,
): Promise<0 | 1> {
  const body = bodyOf(ids, flags, terminal.now());
  const report = await runJob<ReplayReport | PlanReport>('/dead-letters/replay', body, { flags, control, terminal });
  if ('index_sets' in report) {
    terminal.print(flags.json === true ? safeJson(report) : planText(report));
    return 0;
  }
  terminal.print(flags.json === true ? safeJson(report) : replayText(report));
  return report.failed + report.left > 0 || report.cancelled ? 1 : 0;
}

export async function dropDeadLetters(
  ids: readonly string[],
  flags: DeadLetterFlags,
  control: ControlClient,
  terminal: DeadLetterTerminal,
): Promise<0 | 1> {
  const body = { ...bodyOf(ids, flags, terminal.now()), by: userInfo().username };
  if (flags.dryRun === true) {
    const plan = await runJob<PlanReport>('/dead-letters/replay', body, { flags, control, terminal });
    terminal.print(flags.json === true ? safeJson(plan) : dropPlanText(plan));
    return 0;
  }
  const report = await runJob<DropReport>('/dead-letters/drop', body, { flags, control, terminal });
  terminal.print(flags.json === true ? safeJson(report) : dropText(report));
  return report.cancelled ? 1 : 0;
}

interface JobWatch {
  readonly flags: DeadLetterFlags;
  readonly control: ControlClient;
  readonly terminal: DeadLetterTerminal;
}

interface JobLine<Report> {
  readonly job?: string;
  readonly progress?: { readonly done: number; readonly total: number };
  readonly report?: Report;
  readonly error?: Omit<ToldError, 'type'> & { readonly code: string };
}

async function runJob<Report>(
  path: string,
  body: DeadLettersBody,
  { flags, control, terminal }: JobWatch,
): Promise<Report> {
  const bar = flags.json === true || flags.quiet === true ? undefined : createBar(terminal.progress);
  let last: JobLine<Report> = {};
  let cancel = (): void => undefined;
  const cancelAtOnce = (): void => cancel();
  terminal.signal.addEventListener('abort', cancelAtOnce);
  try {
    await control.stream(path, body, (value) => {
      const line = value as JobLine<Report>;
      if (line.job !== undefined) {
        const { job } = line;
        // The report comes all the same, and says how far it came.
        cancel = () => void control.request('POST', '/dead-letters/cancel', { job }).catch(() => undefined);
        if (terminal.signal.aborted) cancel();
      }
      if (line.progress !== undefined) bar?.update(line.progress.done, line.progress.total);
      last = { ...last, ...line };
    });
  } finally {
    terminal.signal.removeEventListener('abort', cancelAtOnce);
    bar?.stop();
  }
  if (last.report !== undefined) return last.report;
  const { code, ...error } = last.error ?? { code: 'EPIPE', message: 'The running program went away.' };
  const done =
    last.progress === undefined
      ? ''
      : ` ${last.progress.done} of ${last.progress.total} dead letters were done, the rest can be asked for again.`;
  throw toldError({ ...error, type: code, message: `${error.message}${done}` });
}

function createBar(
  stream: NodeJS.WriteStream | undefined,
): { update: (done: number, total: number) => void; stop: () => void } | undefined {
  if (stream === undefined) return undefined;
  const format = '{bar} {percentage} %  {value} of {total} dead letters';
  const bar = new cliProgress.SingleBar(
    { format, stream, noTTYOutput: true, notTTYSchedule: 5000, hideCursor: true, clearOnComplete: false },
    cliProgress.Presets.shades_classic,
  );
  bar.start(0, 0);
  return {
    update: (done, total) => {
      bar.setTotal(total);
      bar.update(done);
    },
    stop: () => bar.stop(),
  };
}
