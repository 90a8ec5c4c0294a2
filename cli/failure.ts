/** How a command ends when it fails: one clear sentence, and an exit code. 2: what was asked for is wrong; 1: it failed. */
import { CommanderError } from 'commander';
import { errorText, isSluiceError, toError } from '../core/errors.js';
import { escapeControls } from './search-output.js';

/** Settings, addresses, queries: asking again without a change fails again. */
const wrongRequest =
  /^(CONFIG|RECEIVER|API|SEARCH|RULES|PIPELINE_RULES|PIPELINE_ROLE|WORKERS|LOAD|DEAD_LETTER|FORMAT|TOPIC_FORMAT)_/;

export function reportFailure(thrown: unknown): number {
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
  const error = toError(thrown);
  // It may quote what a sender wrote.
  process.stderr.write(`sluice: ${errorText(error).split('\n').map(escapeControls).join('\n')}\n`);
  const code = isSluiceError(error) ? error.code : ((error as NodeJS.ErrnoException).code ?? '');
  const folder = [
    'EACCES',
    'EROFS',
    'ENOTDIR',
    'EPERM',
    'TOPIC_FOLDER_IN_USE',
    'TOPIC_FOLDER_UNUSABLE',
    'STATE_FOLDER_UNUSABLE',
  ].includes(code);
  return folder || wrongRequest.test(code) ? 2 : 1;
}
