/** `sluice start`. */
import { Option, type Command } from 'commander';
import type { RoleName } from '../connect.js';
import { configOption, examples, settings } from '../options.js';

interface StartFlags {
  readonly config?: string;
  readonly role: RoleName;
  readonly workers?: string;
  readonly quiet?: boolean;
}

export function addStart(program: Command): void {
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
    .action(async (options: StartFlags) => {
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
    });
}
