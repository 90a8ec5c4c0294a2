/** Every verb of the command line, its options and help. What a verb needs is loaded when it runs. */
import { Command } from 'commander';
import { packageVersion } from '../core/process/package-root.js';
import { addCompletion } from './completion.js';
import { addDeadLetterVerbs } from './dead-letters/verbs.js';
import { addExportVerbs } from './search/export-verbs.js';
import { addParkingVerbs } from './index-sets/parking.js';
import { addSearch } from './search/verbs.js';
import { addStatus } from './watch/status-verb.js';
import { addRotate } from './index-sets/rotate.js';
import { addToolVerbs } from './tools/verbs.js';
import { addUserVerbs } from './users.js';
import { addStart } from './start/verb.js';
import { addWatchVerbs } from './watch/verbs.js';

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
  addSearch(program);
  addStatus(program);
  addRotate(program);
  addExportVerbs(program);
  addWatchVerbs(program);
  addDeadLetterVerbs(program);
  addParkingVerbs(program);
  addUserVerbs(program);
  addToolVerbs(program);
  addCompletion(program);
  return program;
}
