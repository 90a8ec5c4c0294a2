/** Errors of data that another program version wrote. */
import { defineErrors } from '../errors.js';

export const formatErrors = defineErrors({
  FORMAT_NEWER: {
    retryable: false,
    exitCode: 2,
    summary:
      'This was written by a newer version of Sluice in a way that this one does not read; start that version or a later one, or use another data folder or other names.',
  },
  FORMAT_TOO_OLD: {
    retryable: false,
    exitCode: 2,
    summary:
      'This was written by a version of Sluice that this one no longer reads; start a version in between first, which brings it up to date.',
  },
  FORMAT_UNREADABLE: {
    retryable: false,
    exitCode: 2,
    summary: 'The version of this data cannot be read; restore it from a backup.',
  },
});
