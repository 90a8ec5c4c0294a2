/** Error codes of the state stores, both adapters. */
import { defineErrors } from '../core/errors.js';

export const stateErrors = defineErrors({
  STATE_CONFLICT: {
    retryable: false,
    status: 409,
    summary: 'The entry was changed meanwhile; read it again and decide anew.',
  },
  STATE_KEY_INVALID: { retryable: false, summary: 'The key of a state entry cannot be used.' },
  STATE_VALUE_INVALID: { retryable: false, summary: 'The value of a state entry is not JSON.' },
  STATE_UNAVAILABLE: { retryable: true, summary: 'The state cannot be read or written now; try again.' },
  STATE_WRITE_FAILED: {
    retryable: true,
    summary: 'The state could not be written and holds what it held before; check the free space of its disk.',
  },
  STATE_NOT_STARTED: { retryable: false, summary: 'The state store is not started, or has been stopped.' },
  STATE_FOLDER_IN_USE: {
    retryable: false,
    exitCode: 2,
    summary: 'Another process uses the state in this folder; stop it first, or give this one another data folder.',
  },
  STATE_FOLDER_UNUSABLE: {
    retryable: false,
    exitCode: 2,
    summary:
      'The folder of the state cannot be opened; check its owner, its rights and the disk, or restore it from a backup.',
  },
});
