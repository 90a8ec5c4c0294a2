/** `sluice config check` and `sluice config show`. */
import { stringify } from 'yaml';
import type { LoadOptions } from '../../config/load.js';
import { problemLines } from '../../config/problem.js';
import { settings } from '../../program/settings.js';

export interface CommandResult {
  readonly text: string;
  /** 0, or 2 for wrong settings. */
  readonly exitCode: 0 | 2;
}

export function configCheck(options: LoadOptions & { readonly json?: boolean | undefined }): CommandResult {
  const { loaded, problems } = settings.read(options);
  if (options.json === true)
    return {
      text: JSON.stringify(
        { valid: loaded !== undefined, file: loaded?.files[0], warnings: loaded?.warnings ?? [], problems },
        null,
        2,
      ),
      exitCode: loaded === undefined ? 2 : 0,
    };
  if (loaded === undefined)
    return {
      text: [...problemLines(problems), `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}.`].join(
        '\n',
      ),
      exitCode: 2,
    };
  const origin = loaded.files[0] ?? 'no settings file, all defaults';
  return {
    text: [...loaded.warnings.map((warning) => `warning: ${warning}`), `The settings are valid (${origin}).`].join(
      '\n',
    ),
    exitCode: 0,
  };
}

/** All settings as they apply, defaults and variables included, secrets hidden. */
export function configShow(options: LoadOptions & { readonly json?: boolean | undefined }): CommandResult {
  const { loaded } = settings.read(options);
  if (loaded === undefined) return configCheck(options);
  const shown = settings.withoutSecrets(loaded.config);
  return {
    text: options.json === true ? JSON.stringify(shown, null, 2) : stringify(shown, { lineWidth: 0 }).trimEnd(),
    exitCode: 0,
  };
}
