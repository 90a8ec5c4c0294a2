/** `sluice rotate`. */
import type { Command } from 'commander';
import { connectStore } from '../connect.js';
import { configOption, examples, quietOption, settings } from '../options.js';

export function addRotate(program: Command): void {
  program
    .command('rotate')
    .description('start the next index of an index set now')
    .argument('<index-set>', 'for example sluice_default')
    .addOption(configOption())
    .option('--json', 'as JSON: index_set, rotated')
    .addOption(quietOption())
    .addHelpText('after', examples('sluice rotate sluice_default', 'sluice rotate sluice_audit --json'))
    .action(async (indexSet: string, flags: { config?: string; json?: boolean; quiet?: boolean }) => {
      const { config } = settings(flags);
      const answer = (await connectStore(config).request('POST', '/rotate', { index_set: indexSet })) as {
        rotated: boolean;
        /** There is no such index set. */
        unknown?: boolean;
      };
      if (flags.json === true)
        process.stdout.write(`${JSON.stringify({ index_set: indexSet, rotated: answer.rotated })}\n`);
      else if (!answer.rotated)
        process.stderr.write(`${indexSet} was not rotated: there is no such index set, or it is being rotated.\n`);
      else if (flags.quiet !== true) process.stdout.write(`${indexSet} writes to its next index now.\n`);
      process.exitCode = answer.rotated ? 0 : answer.unknown === true ? 2 : 1;
    });
}
