/** What several verbs share. */
import { InvalidArgumentError, Option } from 'commander';
import { loadConfig, type LoadedConfig } from '../config/load.js';

export function settings(flags: { readonly config?: string | undefined }, overrides: Readonly<Record<string, unknown>> = {}): LoadedConfig {
  return loadConfig({ file: flags.config, environment: process.env, overrides });
}

export const configOption = (): Option => new Option('-c, --config <file>', 'settings file (default: sluice.yaml in this folder when there is one; SLUICE_* overrides it)');

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidArgumentError('A whole number is needed.');
  return value;
}
