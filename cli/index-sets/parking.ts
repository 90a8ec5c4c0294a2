/** Verbs about index sets that take no writes. */
import type { Command } from 'commander';
import { formatBytes } from '../../core/bytes.js';
import type { ParkedSet } from '../../pipeline/parking/contract.js';
import { connectControl } from '../connect.js';
import { configOption, examples, quietOption, settings } from '../options.js';
import { escapeControls, safeJson } from '../search/output.js';

export function addParkingVerbs(program: Command): void {
  const parking = program
    .command('parking')
    .description('index sets that take no writes, and the messages that wait for them');
  parking
    .command('list')
    .description('what is parked, how much, how old and why')
    .addOption(configOption())
    .option('--json', 'everything, as JSON')
    .addHelpText('after', examples('sluice parking list', 'sluice parking list --json'))
    .action(async (flags: { config?: string; json?: boolean }) => {
      const { config } = settings(flags);
      const answer = (await connectControl(config).request('GET', '/parking')) as { index_sets: readonly ParkedSet[] };
      process.stdout.write(
        flags.json === true ? `${safeJson(answer.index_sets, 2)}\n` : parkingText(answer.index_sets),
      );
    });
  parking
    .command('abandon')
    .description(
      'give up an index that is missing or closed: what is bound for it becomes dead letters, which can be replayed to another index; for good',
    )
    .argument('<index>', 'the concrete index, for example sluice_default_3')
    .addOption(configOption())
    .option('--json', 'as JSON: index_set, rotated')
    .addOption(quietOption())
    .addHelpText('after', examples('sluice parking abandon sluice_default_3'))
    .action(async (index: string, flags: { config?: string; json?: boolean; quiet?: boolean }) => {
      const { config } = settings(flags);
      const answer = (await connectControl(config).request('POST', '/parking/abandon', { index })) as {
        index_set: string;
        rotated: boolean;
      };
      if (flags.json === true) process.stdout.write(`${safeJson(answer)}\n`);
      else if (flags.quiet !== true)
        process.stdout.write(
          `${index} is given up: what is bound for it becomes dead letters.${answer.rotated ? ` ${answer.index_set} writes to its next index now.` : ''}\n`,
        );
    });
}

export function parkingText(sets: readonly ParkedSet[]): string {
  const shown = sets.filter(({ state }) => state !== 'drained');
  if (shown.length === 0) return 'Nothing is parked.\n';
  const lines = [
    `${'index set'.padEnd(30)}${'state'.padEnd(10)}${'messages'.padStart(12)}${'size'.padStart(12)}${'oldest'.padStart(12)}`,
  ];
  for (const set of shown) {
    const age = set.messages === 0 ? '-' : `${set.oldest_age_seconds} s`;
    lines.push(
      `${set.index_set.padEnd(30)}${set.state.padEnd(10)}${String(set.messages).padStart(12)}${formatBytes(set.bytes).padStart(12)}${age.padStart(12)}`,
    );
    if (set.index !== undefined) lines.push(`  ${set.index}: ${escapeControls(set.reason ?? set.code ?? '')}`);
  }
  return `${lines.join('\n')}\n`;
}
