/** Errors of the settings. */
import { defineErrors } from '../core/errors.js';

export const configErrors = defineErrors({
  CONFIG_INVALID: { retryable: false, exitCode: 2, summary: 'The settings cannot be used.' },
  CONFIG_FILE_MISSING: { retryable: false, exitCode: 2, summary: 'The settings file does not exist.' },
  CONFIG_FILE_UNREADABLE: { retryable: false, exitCode: 2, summary: 'The settings file cannot be read.' },
  CONFIG_YAML_INVALID: { retryable: false, exitCode: 2, summary: 'The settings file is not valid YAML.' },
  CONFIG_SETTING_UNKNOWN: { retryable: false, exitCode: 2, summary: 'There is no such setting.' },
  CONFIG_VALUE_INVALID: { retryable: false, exitCode: 2, summary: 'The setting does not take this value.' },
  CONFIG_SECRET_MISSING: {
    retryable: false,
    exitCode: 2,
    summary: 'The secret that the setting names cannot be read.',
  },
  CONFIG_FILE_REFERENCE: { retryable: false, exitCode: 2, summary: 'The file that the setting names cannot be read.' },
  CONFIG_CONFLICT: { retryable: false, exitCode: 2, summary: 'Two settings do not go together.' },
});
