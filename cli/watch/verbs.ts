/** Verbs that watch the running program: top, tap. */
import { setTimeout as wait } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import type { Top } from '../../pipeline/monitoring/contract.js';
import { connectControl, type RoleName } from '../connect.js';
import { configOption, examples, settings, wholeNumber } from '../options.js';
import { createSearchTerminal } from '../search/terminal.js';
import { topRows, topText, type TopSubject } from './top-output.js';
import { tappedLine, type TappedAnswer } from './tap-output.js';
import { safeJson } from '../search/output.js';

const subjects = ['sender', 'stream', 'rule'] as const;

interface WatchFlags {
  readonly config?: string;
  readonly json?: boolean;
  readonly role: RoleName;
}

const roleOption = (): Option =>
  new Option('--role <role>', 'of several processes on one data folder: which')
    .choices(['all', 'receiver', 'processor', 'output', 'api'])
    .default('all');

export function addWatchVerbs(program: Command): void {
  addTop(program);
  addTap(program);
}

function addTop(program: Command): void {
  program
    .command('top')
    .description('who sends how much, and what streams and rules take: rates over the interval, totals since the start')
    .addOption(configOption())
    .addOption(new Option('--by <what>', 'what to list').choices([...subjects]).default('sender'))
    .option('--interval <seconds>', 'seconds between two looks', wholeNumber, 2)
    .option('--limit <n>', 'most lines', wholeNumber, 20)
    .option('-w, --watch', 'go on until interrupted')
    .addOption(roleOption())
    .option('--json', 'one object a line')
    .addHelpText(
      'after',
      examples('sluice top', 'sluice top --by stream --interval 10 --limit 5', 'sluice top --by rule --watch --json'),
    )
    .action(async (flags: WatchFlags & { by: TopSubject; interval: number; limit: number; watch?: boolean }) => {
      const control = connectControl(settings(flags).config, flags.role);
      const { terminal, stop } = createSearchTerminal();
      const look = async (): Promise<Top> => (await control.request('GET', '/top')) as Top;
      try {
        for (let before = await look(); await pause(flags.interval, terminal.signal); ) {
          const now = await look();
          const rows = topRows(before, now, flags.by).slice(0, flags.limit);
          if (flags.json === true) for (const row of rows) terminal.print(safeJson(row));
          else terminal.print((flags.watch === true ? clearScreen() : '') + topText(rows, flags.by, now.at));
          if (flags.watch !== true) return;
          before = now;
        }
      } finally {
        stop();
      }
    });
}

/** False when the signal came first. */
export async function pause(seconds: number, signal: AbortSignal): Promise<boolean> {
  await wait(seconds * 1000, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}

/** A terminal is written over; a file gets one block after the other. */
export function clearScreen(): string {
  return process.stdout.isTTY ? '\u001b[2J\u001b[H' : '';
}

function addTap(program: Command): void {
  program
    .command('tap')
    .description('show what passes a stream, a receiver or an output, from now on, until interrupted')
    .argument('<target>', 'a name, or stream:<id>, receiver:<name>, output:<id> where a name is several things')
    .addOption(configOption())
    .option('--limit <n>', 'end after this many messages', wholeNumber)
    .addOption(roleOption())
    .option('--json', 'one object a line: text, peer or id, and how many were skipped before it')
    .option('-q, --quiet', 'only messages')
    .addHelpText(
      'after',
      examples(
        'sluice tap all-messages',
        'sluice tap receiver:gelf-udp --limit 10',
        'sluice tap output:siem --json --quiet',
      ),
    )
    .action(async (target: string, flags: WatchFlags & { limit?: number; quiet?: boolean }) => {
      const control = connectControl(settings(flags).config, flags.role);
      const { terminal, stop } = createSearchTerminal();
      let shown = 0;
      let skipped = 0;
      const enough = new AbortController();
      try {
        await control.stream(
          '/tap',
          { target },
          (value) => {
            const tapped = value as TappedAnswer;
            if ('target' in tapped) {
              if (flags.quiet !== true)
                terminal.note(
                  `What passes ${tapped.target.kind} ${tapped.target.name}; a sample when it is more than 500 a second. Ctrl-C ends.`,
                );
              return;
            }
            skipped += tapped.skipped;
            shown += 1;
            terminal.print(flags.json === true ? safeJson(tapped) : tappedLine(tapped));
            if (shown === flags.limit) enough.abort();
          },
          AbortSignal.any([terminal.signal, enough.signal]),
        );
        if (flags.quiet !== true && skipped > 0) terminal.note(`${shown} shown, ${skipped} more passed.`);
      } finally {
        stop();
      }
    });
}
