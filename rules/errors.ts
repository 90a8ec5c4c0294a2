import { defineErrors } from '../core/errors.js';

export const rulesErrors = defineErrors({
  RULES_FILE_UNREADABLE: {
    retryable: true,
    exitCode: 2,
    summary: 'A rule file or the rule folder cannot be read; check its name and permissions.',
  },
  RULES_FILE_TOO_LARGE: {
    retryable: false,
    status: 400,
    exitCode: 2,
    summary: 'The rule files are too large or too many.',
  },
  PIPELINE_RULES_INVALID: {
    retryable: false,
    exitCode: 2,
    summary: 'The rule files cannot be used; run `npx sluice rules check`.',
  },
});
