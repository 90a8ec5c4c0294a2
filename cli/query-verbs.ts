/** Verbs that look at the running program: search, status. */
import { Option, type Command } from 'commander';
import { connectControl, connectStore, type RoleName } from './connect.js';
import { configOption, examples, quietOption, settings, wholeNumber } from './options.js';

interface SearchFlags {
  readonly config?: string;
  readonly last?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit: number;
  readonly fields?: string;
  readonly indexSet?: string;
  readonly json?: boolean;
  readonly follow?: boolean;
  readonly quiet?: boolean;
}

export function addQueryVerbs(program: Command): void {
  program
    .command('search')
    .description('find messages: words, "phrases", field:value, AND OR NOT, ranges, _exists_:field')
    .argument('[query]', 'query text; empty finds everything', '')
    .addOption(configOption())
    .option('--last <duration>', 'time range back from now, 15m or 2h or 7d or all (default: 15m)')
    .option('--from <time>', 'from this time on: ISO 8601, epoch, now-1h')
    .option('--to <time>', 'before this time')
    .option('--limit <n>', 'most documents', wholeNumber, 100)
    .option('--fields <names>', 'only these fields, joined by commas')
    .option('--index-set <ids>', 'only these index sets, joined by commas (default: all but the dead letters)')
    .option('--json', 'one document a line, as JSON')
    .option('-f, --follow', 'go on with new messages until interrupted')
    .option('-q, --quiet', 'only documents')
    .addHelpText(
      'after',
      examples(
        "sluice search 'namespace_name:shop AND timeout' --last 1h",
        'sluice search --from 2026-01-02T03:00:00Z --to 2026-01-02T04:00:00Z --limit 1000 --json',
        "sluice search 'level:<=3' --follow --fields source,message",
        'sluice search \'"connection refused"\' --index-set sluice_default -q',
      ),
    )
    .action(async (query: string, flags: SearchFlags) => {
      const { config } = settings(flags);
      const { runSearch } = await import('./search.js');
      const { queryOptions } = await import('../search/language/options.js');
      const { createSearchTerminal } = await import('./search-terminal.js');
      const { terminal, stop } = createSearchTerminal();
      try {
        process.exitCode = await runSearch(
          { query, allowed: queryOptions(config.search), ...flags },
          connectStore(config),
          terminal,
        );
      } finally {
        stop();
      }
    });
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
