/** The verbs about dead letters and their options. */
import { Option, type Command } from 'commander';
import type { DeadLetterFlags, DeadLetterTerminal } from './run.js';
import type { ControlClient } from '../../api/control/client.js';
import { connectStore } from '../connect.js';
import { configOption, examples, settings, wholeNumber } from '../options.js';

export function addDeadLetterVerbs(program: Command): void {
  const deadLetters = program
    .command('dead-letters')
    .description(
      'input that could not be decoded, and documents that the store refused: look at them, replay them, drop them',
    )
    .addHelpText(
      'after',
      `
Examples:
  sluice dead-letters list --last 1d
  sluice dead-letters show 019a2b3c4d5e6f708192-0001-0000000042@sluice_default
  sluice dead-letters replay --code STORE_DOCUMENT_REFUSED --dry-run
  sluice dead-letters replay --index-set sluice_default --last 2h
  sluice dead-letters drop --peer 10.0.0.7`,
    );
  filtered(
    deadLetters
      .command('list')
      .description(
        'one line a dead letter, newest first: time, id, code, receiver, peer, index set, reason, failed replays',
      ),
  )
    .option('--limit <n>', 'most dead letters', wholeNumber, 100)
    .addHelpText(
      'after',
      examples(
        'sluice dead-letters list --last 1d',
        'sluice dead-letters list --code DECODE_JSON_INVALID --peer 10.0.0.7 --json',
      ),
    )
    .action(async (flags: DeadLetterFlags) =>
      run(flags, (verbs, control, terminal) => verbs.listDeadLetters(flags, control, terminal)),
    );
  common(
    deadLetters
      .command('show')
      .description('everything about one dead letter, with its raw bytes')
      .argument('<id>', 'as listed'),
  )
    .addHelpText('after', examples('sluice dead-letters show 019a2b3c4d5e6f708192-0001-0000000042@sluice_default'))
    .action(async (id: string, flags: DeadLetterFlags) =>
      run(flags, (verbs, control, terminal) => verbs.showDeadLetter(id, flags, control, terminal)),
    );
  changing(
    deadLetters
      .command('replay')
      .description(
        'deliver again, under the rules of now, to the newest indices; a message is never stored twice. Exit code 1 when some failed again or the replay was interrupted',
      ),
  )
    .addHelpText(
      'after',
      examples(
        'sluice dead-letters replay --code STORE_DOCUMENT_REFUSED --dry-run',
        'sluice dead-letters replay --index-set sluice_default --last 2h',
        'sluice dead-letters replay --all --json',
      ),
    )
    .action(async (ids: string[], flags: DeadLetterFlags) =>
      run(flags, (verbs, control, terminal) => verbs.replayDeadLetters(ids, flags, control, terminal)),
    );
  changing(
    deadLetters
      .command('drop')
      .description(
        'give up: kept as dropped, with who and when, until retention removes them; a replay passes them over',
      ),
  )
    .addHelpText(
      'after',
      examples(
        'sluice dead-letters drop --peer 10.0.0.7',
        'sluice dead-letters drop --receiver gelf-udp --last 1d --dry-run',
      ),
    )
    .action(async (ids: string[], flags: DeadLetterFlags) =>
      run(flags, (verbs, control, terminal) => verbs.dropDeadLetters(ids, flags, control, terminal)),
    );
}

function common(command: Command): Command {
  return command.addOption(configOption()).option('--json', 'as JSON').option('-q, --quiet', 'only the result');
}

function filtered(command: Command): Command {
  return common(command)
    .option('--code <code>', 'with this code, for example DECODE_JSON_INVALID')
    .option('--reason <text>', 'with these words in the reason')
    .option('--receiver <name>', 'from this receiver')
    .option('--peer <address>', 'from this sender, with or without its port')
    .option('--index-set <id>', 'refused by this index set')
    .addOption(
      new Option('--state <state>', 'open (default), replayed, dropped or all').choices([
        'open',
        'replayed',
        'dropped',
        'all',
      ]),
    )
    .option('--query <text>', 'any condition in the search language')
    .option('--last <duration>', 'received in this time, 15m or 2h or 7d (default: all)')
    .option('--from <time>', 'received from this time on')
    .option('--to <time>', 'received before this time');
}

function changing(command: Command): Command {
  return filtered(command.argument('[ids...]', 'only these'))
    .option('--all', 'every open one; needed when nothing else says which')
    .option('--limit <n>', 'at most so many, oldest first', wholeNumber)
    .option('--dry-run', 'say how many there are and where a replay would bring them; change nothing');
}

type Verbs = typeof import('./run.js');

async function run(
  flags: DeadLetterFlags,
  verb: (verbs: Verbs, control: ControlClient, terminal: DeadLetterTerminal) => Promise<number>,
): Promise<void> {
  const { config } = settings(flags);
  const verbs = await import('./run.js');
  const { createSearchTerminal } = await import('../search/terminal.js');
  const { terminal, stop } = createSearchTerminal();
  try {
    process.exitCode = await verb(verbs, connectStore(config), { ...terminal, progress: process.stderr });
  } finally {
    stop();
  }
}
