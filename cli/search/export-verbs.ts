/** `sluice export`. */
import { Option, type Command } from 'commander';
import { connectStore } from '../connect.js';
import type { ExportFlags } from './export.js';
import { configOption, examples, quietOption, settings, wholeNumber } from '../options.js';

export function addExportVerbs(program: Command): void {
  program
    .command('export')
    .description('write every message of a query to a file: CSV, or one JSON document a line')
    .argument('[query]', 'query text; empty finds everything', '')
    .addOption(configOption())
    .option('--last <duration>', 'time range back from now, 15m or 2h or 7d or all (default: 15m)')
    .option('--from <time>', 'from this time on: ISO 8601, epoch, now-1h')
    .option('--to <time>', 'before this time')
    .option(
      '--fields <names>',
      'these fields in this order, joined by commas (default of CSV: timestamp,source,message; of JSON: all)',
    )
    .option('--sort <field>', 'order by this field, with :asc or :desc behind it', 'timestamp:desc')
    .option('--limit <n>', 'most messages (default: all)', wholeNumber)
    .option('--index-set <ids>', 'only these index sets, joined by commas (default: all but the dead letters)')
    .addOption(new Option('--format <format>', 'what is written').choices(['csv', 'json']).default('csv'))
    .option('-o, --output <file>', 'file to write; it appears when it is whole (default: standard output)')
    .addOption(quietOption('no progress, no summary'))
    .addHelpText(
      'after',
      examples(
        'sluice export --last 1h --output messages.csv',
        "sluice export 'namespace_name:shop AND level:<=3' --last 7d --fields timestamp,pod,level,message -o errors.csv",
        "sluice export 'message:login' --from 2026-01-01 --to 2026-02-01 --format json --sort timestamp:asc > logins.ndjson",
      ),
    )
    .action(async (query: string, flags: Omit<ExportFlags, 'query'> & { readonly config?: string }) => {
      const { config } = settings(flags);
      const { runExport } = await import('./export.js');
      const { queryOptions } = await import('../../search/language/options.js');
      const { createSearchTerminal } = await import('./terminal.js');
      const { terminal, stop } = createSearchTerminal();
      const progress =
        flags.quiet !== true && (flags.output !== undefined || !process.stdout.isTTY) ? process.stderr : undefined;
      try {
        process.exitCode = await runExport(
          { query, allowed: queryOptions(config.search), ...flags },
          connectStore(config),
          { ...terminal, output: process.stdout, progress },
        );
      } finally {
        stop();
      }
    });
}
