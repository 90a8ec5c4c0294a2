/** Errors of the load generator and its verification. */
import { defineErrors } from '../core/errors.js';

export const loadErrors = defineErrors({
  LOAD_OPTION_INVALID: { retryable: false, exitCode: 2, summary: 'The load cannot be run with this option.' },
  LOAD_TARGET_UNREACHABLE: {
    retryable: true,
    exitCode: 2,
    summary: 'Nothing takes the load at this address. Start Sluice first, or name its host and port.',
  },
  LOAD_VERIFY_UNREADABLE: {
    retryable: false,
    exitCode: 2,
    summary: 'The verification cannot tell the messages of the load apart.',
  },
});
