/** Errors of the settings. */
import { defineErrors } from '../core/errors.js';

export const configErrors = defineErrors({
  CONFIG_INVALID: { retryable: false, summary: 'The settings cannot be used.' },
  CONFIG_FILE_MISSING: { retryable: false, summary: 'The settings file does not exist.' },
  CONFIG_FILE_UNREADABLE: { retryable: false, summary: 'The settings file cannot be read.' },
  CONFIG_YAML_INVALID: { retryable: false, summary: 'The settings file is not valid YAML.' },
  CONFIG_SETTING_UNKNOWN: { retryable: false, summary: 'There is no such setting.' },
  CONFIG_VALUE_INVALID: { retryable: false, summary: 'The setting does not take this value.' },
  CONFIG_SECRET_MISSING: { retryable: false, summary: 'The secret that the setting names cannot be read.' },
  CONFIG_FILE_REFERENCE: { retryable: false, summary: 'The file that the setting names cannot be read.' },
  CONFIG_CONFLICT: { retryable: false, summary: 'Two settings do not go together.' },
});
