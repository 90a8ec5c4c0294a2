/** What several verbs share. */
import { InvalidArgumentError, Option } from 'commander';
import type { LoadedConfig } from '../config/load.js';
import { loadConfig } from '../program/settings.js';

export function settings(
  flags: { readonly config?: string | undefined },
  overrides: Readonly<Record<string, unknown>> = {},
): LoadedConfig {
  return loadConfig({ file: flags.config, environment: process.env, overrides });
}

export const configOption = (): Option =>
  new Option(
    '-c, --config <file>',
    'settings file (default: sluice.yaml in this folder when there is one; SLUICE_* overrides it)',
  );

/** Examples below a verb's help; what stands behind two spaces explains. Each must parse: a test sees to it. */
export const examples = (...lines: readonly string[]): string =>
  `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;

export const quietOption = (what = 'say nothing when it worked'): Option => new Option('-q, --quiet', what);

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidArgumentError('A whole number is needed.');
  return value;
}
