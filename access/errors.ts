/** Errors of access. One answer for everything that is wrong with credentials: it does not tell which part. */
import { defineErrors } from '../core/errors.js';
import type { SluiceError } from '../core/errors.js';

export const accessErrors = defineErrors({
  ACCESS_DENIED: { retryable: false, status: 401, exitCode: 2, summary: 'The credentials are not valid.' },
  ACCESS_THROTTLED: {
    retryable: true,
    status: 429,
    summary: 'Too many attempts with a wrong password; try again later.',
  },
  ACCESS_BUSY: {
    retryable: true,
    status: 503,
    summary: 'As many passwords are being checked as can be at once; try again in a moment.',
  },
  ACCESS_DIRECTORY_UNAVAILABLE: {
    retryable: true,
    status: 503,
    summary: 'The directory of users does not answer; local users can log in.',
  },
  ACCESS_DIRECTORY_REFUSED: { retryable: false, summary: 'The directory refused what the settings ask of it.' },
  ACCESS_DIRECTORY_SETTINGS_INVALID: {
    retryable: false,
    status: 400,
    exitCode: 2,
    summary: 'The settings of the directory cannot be used.',
  },
  ACCESS_FORBIDDEN: { retryable: false, status: 403, exitCode: 2, summary: 'Your roles do not allow this.' },
  ACCESS_USER_UNKNOWN: { retryable: false, status: 404, exitCode: 2, summary: 'There is no such user.' },
  ACCESS_ROLE_UNKNOWN: { retryable: false, status: 404, exitCode: 2, summary: 'There is no such role.' },
  ACCESS_TOKEN_UNKNOWN: { retryable: false, status: 404, exitCode: 2, summary: 'There is no such access token.' },
  ACCESS_NAME_TAKEN: {
    retryable: false,
    status: 400,
    exitCode: 2,
    summary: 'The name is in use, in upper or lower case.',
  },
  ACCESS_VALUE_INVALID: { retryable: false, status: 400, exitCode: 2, summary: 'A value cannot be used.' },
  ACCESS_PASSWORD_INVALID: { retryable: false, status: 400, exitCode: 2, summary: 'The new password cannot be used.' },
  ACCESS_OLD_PASSWORD_WRONG: {
    retryable: false,
    status: 400,
    exitCode: 2,
    summary: 'Old password is missing or incorrect.',
  },
  ACCESS_ROLE_OF_FILE: {
    retryable: false,
    status: 409,
    exitCode: 2,
    summary: 'The role stands in a rule file, and is changed there.',
  },
  ACCESS_READ_ONLY: { retryable: false, status: 403, exitCode: 2, summary: 'It cannot be changed here.' },
  ACCESS_LAST_ADMINISTRATOR: {
    retryable: false,
    status: 400,
    exitCode: 2,
    summary: 'The last administrator who can log in with a password of its own stays one.',
  },
  ACCESS_OWN_ACCOUNT: {
    retryable: false,
    status: 400,
    exitCode: 2,
    summary: 'Nobody disables or deletes the account that asks for it.',
  },
  ACCESS_RECORD_INVALID: {
    retryable: false,
    summary:
      'A stored user, role, session, token or setting of the directory cannot be read; restore it from a backup, or delete it.',
  },
  ACCESS_LIMIT_REACHED: { retryable: false, status: 400, exitCode: 2, summary: 'There are as many as are kept.' },
});

interface ThrottledError extends SluiceError {
  readonly retryAfterMs: number;
}

export function throttled(retryAfterMs: number): ThrottledError {
  return Object.assign(accessErrors.create('ACCESS_THROTTLED'), { retryAfterMs: Math.max(1, Math.ceil(retryAfterMs)) });
}
