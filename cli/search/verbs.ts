/** `sluice search`. */
import type { Command } from 'commander';
import { connectStore } from '../connect.js';
import { configOption, examples, settings, wholeNumber } from '../options.js';

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

export function addSearch(program: Command): void {
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
      const { queryOptions } = await import('../../search/language/options.js');
      const { createSearchTerminal } = await import('./terminal.js');
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
}
