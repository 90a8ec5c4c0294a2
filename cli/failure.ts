/**
 * How a command ends when it fails: one clear sentence, and an exit code. 2: what was asked for is wrong; 1: it failed.
 */
import { CommanderError } from 'commander';
import { errorText, isSluiceError, toError } from '../core/errors.js';
import { escapeControls } from './search/output.js';

/** Errors of the system that say that a folder or file may not be used: the caller's to change. */
const unusableFolder: ReadonlySet<unknown> = new Set(['EACCES', 'EROFS', 'ENOTDIR', 'EPERM']);

export function reportFailure(thrown: unknown): number {
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2;
  const error = toError(thrown);
  // It may quote what a sender wrote.
  process.stderr.write(`sluice: ${errorText(error).split('\n').map(escapeControls).join('\n')}\n`);
  if (isSluiceError(error) && error.exitCode === 2) return 2;
  return 'code' in error && unusableFolder.has(error.code) ? 2 : 1;
}
