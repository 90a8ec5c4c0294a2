/** Every verb of the command line, its options and help. What a verb needs is loaded when it runs. */
import { Command, Option } from 'commander';
import { packageVersion } from '../core/process/package-root.js';
import { addCompletion } from './completion.js';
import { addDeadLetterVerbs } from './dead-letters.js';
import { addExportVerbs } from './export-verbs.js';
import { configOption, examples, settings } from './options.js';
import { addParkingVerbs } from './parking.js';
import { addQueryVerbs } from './query-verbs.js';
import { addToolVerbs } from './tool-verbs.js';
import { addUserVerbs } from './users.js';
import { addWatchVerbs } from './watch-verbs.js';

export function buildProgram(): Command {
  const program = new Command('sluice')
    .description('Log platform: GELF in, through topics, rules and streams, into searchable index sets.')
    .version(packageVersion)
    .showSuggestionAfterError()
    .showHelpAfterError('(sluice --help lists every verb)')
    .exitOverride()
    .addHelpText(
      'after',
      `
Examples:
  sluice start                                     run everything on this machine, data in ./data
  sluice start --config sluice.yaml --role processor
  sluice search 'namespace_name:shop AND timeout' --last 1h
  sluice rules explain message.json                which rules match a message, and why the others do not
  sluice load --rate 5000 --for 60s --verify       synthetic traffic, and a check that nothing is missing or doubled`,
    );
  addStart(program);
  addQueryVerbs(program);
  addExportVerbs(program);
  addWatchVerbs(program);
  addDeadLetterVerbs(program);
  addParkingVerbs(program);
  addUserVerbs(program);
  addToolVerbs(program);
  addCompletion(program);
  return program;
}

function addStart(program: Command): void {
  program
    .command('start')
    .description('run the program until SIGINT or SIGTERM')
    .addOption(configOption())
    .addOption(
      new Option('--role <role>', 'what this process does')
        .choices(['all', 'receiver', 'processor', 'output', 'api'])
        .default('all'),
    )
    .option(
      '--workers <n>',
      'processes that share the ports and the work; auto: one per core (setting workers; needs Kafka)',
    )
    .option('-q, --quiet', 'only log lines, no first steps')
    .addHelpText(
      'after',
      examples(
        'sluice start                                  everything in one process, data in ./data',
        'sluice start -c sluice.yaml --role receiver   on Kafka: only the receivers',
        'sluice start --role output --quiet            on Kafka: only the outputs, log lines only',
        'sluice start --workers auto                   one process for each core',
      ),
    )
    .action(
      async (options: {
        config?: string;
        role: 'all' | 'receiver' | 'processor' | 'output' | 'api';
        workers?: string;
        quiet?: boolean;
      }) => {
        const workers =
          options.workers === undefined || options.workers === 'auto' ? options.workers : Number(options.workers);
        const { config, warnings } = settings(options, { workers });
        const { runStart } = await import('./start.js');
        for (const warning of warnings) process.stderr.write(`sluice: ${warning}\n`);
        const has = (role: string): boolean => options.role === 'all' || options.role === role;
        const roles = {
          receiver: has('receiver'),
          processor: has('processor'),
          output: has('output'),
          api: config.api.enabled && (has('processor') || has('api')),
        };
        const say = (text: string): void => void process.stderr.write(text);
        process.exitCode = await runStart({
          config,
          roles,
          quiet: options.quiet === true,
          runtimeFolder: process.env['XDG_RUNTIME_DIR'],
          say,
        });
        process.exit();
      },
    );
}
