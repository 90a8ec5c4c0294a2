/**
 * Errors that routes answer themselves. The text of an answer is the caller's; the summary here says what the code
 * stands for.
 */
import { defineErrors, type ErrorKind } from '../../core/errors.js';
import type { ErrorBody } from './contract.js';

interface AnswerKind extends ErrorKind {
  readonly status: number;
  /** `type` of the body; ApiError unless named. */
  readonly type?: ErrorBody['type'];
}

const kinds = {
  API_HEADER_INVALID: { retryable: false, status: 400, summary: 'A header is missing or malformed.' },
  API_VALUE_INVALID: {
    retryable: false,
    status: 400,
    type: 'RequestError',
    summary: 'A value of the request cannot be used; the answer names its path.',
  },
  API_MEMBERS_INVALID: {
    retryable: false,
    status: 400,
    type: 'ValidationApiError',
    summary: 'Members of the body cannot be used; the answer lists them by name.',
  },
  API_REQUEST_REFUSED: { retryable: false, status: 400, summary: 'What is asked for cannot be done this way.' },
  API_LIMIT_REACHED: { retryable: false, status: 400, summary: 'As many are stored as may be; delete some first.' },
  API_UNAUTHENTICATED: { retryable: false, status: 401, summary: 'Credentials are missing or wrong.' },
  API_FORBIDDEN: { retryable: false, status: 403, summary: 'Your roles do not allow this.' },
  API_STREAM_FORBIDDEN: {
    retryable: false,
    status: 403,
    type: 'MissingStreamPermission',
    summary: 'Your roles do not allow this for some of the streams; the answer lists them.',
  },
  API_QUOTA_REACHED: {
    retryable: false,
    status: 403,
    summary: 'As many views or searches are stored as the settings allow; delete some first.',
  },
  API_NOT_FOUND: { retryable: false, status: 404, summary: 'There is nothing with this id or at this path.' },
  API_METHOD_NOT_ALLOWED: { retryable: false, status: 405, summary: 'The path does not take this method.' },
  API_NOT_ACCEPTABLE: { retryable: false, status: 406, summary: 'The answer has none of the accepted media types.' },
  API_REQUEST_TIMEOUT: { retryable: true, status: 408, summary: 'The request did not come in whole in time.' },
  API_EXISTS: {
    retryable: false,
    status: 409,
    summary: 'The name is taken, or was and its messages are still stored.',
  },
  API_MANAGED_ELSEWHERE: {
    retryable: false,
    status: 409,
    summary: 'A file, an extractor, a pipeline or the program itself defines this; it is changed there.',
  },
  API_IN_USE: { retryable: false, status: 409, summary: 'Something else refers to this; the answer names it.' },
  API_CHANGING: { retryable: true, status: 409, summary: 'This is just being changed; try again in a moment.' },
  API_TOO_LARGE: { retryable: false, status: 413, summary: 'This is larger than what may be stored.' },
  API_BUSY: { retryable: true, status: 429, summary: 'As much work of this kind is under way as is allowed at once.' },
  API_HEAD_TOO_LARGE: { retryable: false, status: 431, summary: 'The head of the request is too long.' },
  API_NOT_HTTP: { retryable: false, status: 400, summary: 'The request is not valid HTTP.' },
  API_STARTING: { retryable: true, status: 503, summary: 'This process is being started; try again.' },
} satisfies Readonly<Record<string, AnswerKind>>;

export type AnswerCode = keyof typeof kinds;

/** Widened: a kind that names no type has none. */
export const answerKinds: Readonly<Record<AnswerCode, AnswerKind>> = kinds;
export const answerErrors = defineErrors(kinds);
