/** Verbs that look: search, status, rules. */
import { Command, Option } from 'commander';
import { connectControl } from './connect.js';
import { configOption, settings, wholeNumber, type CommonOptions } from './program.js';

export function addQueryVerbs(program: Command): void {
  void Option;
  program.command('status').description('what the running program does: receivers, lag, index sets, health').addOption(configOption())
    .action(async (options: CommonOptions) => {
      const { config } = settings(options);
      process.stdout.write(`${JSON.stringify(await connectControl(config).request('GET', '/status'), null, 2)}\n`);
    });
  program.command('search').argument('[query]', '', '').addOption(configOption()).option('--limit <n>', '', wholeNumber, 100)
    .action(async (query: string, options: CommonOptions & { limit: number }) => {
      const { config } = settings(options);
      process.stdout.write(`${JSON.stringify(await connectControl(config).request('POST', '/search', { query, limit: options.limit }), null, 2)}\n`);
    });
}
