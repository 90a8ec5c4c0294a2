/** `sluice status`. */
import { Option, type Command } from 'commander';
import { connectControl, type RoleName } from '../connect.js';
import { configOption, examples, settings } from '../options.js';

export function addStatus(program: Command): void {
  program
    .command('status')
    .description('what the running program does: receivers, backlog, index sets, health')
    .addOption(configOption())
    .addOption(
      new Option('--role <role>', 'of several processes on one data folder: which')
        .choices(['all', 'receiver', 'processor', 'output', 'api'])
        .default('all'),
    )
    .option('-w, --watch', 'again every two seconds, until interrupted')
    .addOption(new Option('--json', 'everything, as JSON; with --watch one object a line'))
    .addHelpText('after', examples('sluice status', 'sluice status --watch', 'sluice status --role output --json'))
    .action(async (flags: { config?: string; json?: boolean; role: RoleName; watch?: boolean }) => {
      const { config } = settings(flags);
      const { runStatus } = await import('./status-watch.js');
      await runStatus(connectControl(config, flags.role), flags);
    });
}
