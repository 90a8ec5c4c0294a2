/**
 * An answer that is not success, thrown anywhere in a handler: `throw failure('API_NOT_FOUND', 'There is no such
 * view.')`.
 */
import type { SluiceError } from '../../core/errors.js';
import type { ErrorBody } from './contract.js';
import { answerErrors, answerKinds, type AnswerCode } from './errors.js';

const brand = Symbol('sluice.api.failure');

interface FailureDetails {
  /** Further members of the body. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** What is sent: status, body and headers. */
export interface ErrorAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

interface Failure extends SluiceError, ErrorAnswer {
  readonly status: number;
  readonly [brand]: true;
}

/** The code decides status and `type`; the message is sent as it is. */
export function failure(
  code: AnswerCode,
  message: string,
  { body = {}, headers = {}, cause }: FailureDetails = {},
): Failure {
  const { status, type = 'ApiError' } = answerKinds[code];
  return Object.assign(answerErrors.create(code, { text: message, cause }), {
    [brand]: true as const,
    ...errorAnswer(status, message, { type, body, headers }),
  });
}

export function isFailure(value: unknown): value is Failure {
  return typeof value === 'object' && value !== null && brand in value;
}

export function errorAnswer(
  status: number,
  message: string,
  {
    type = 'ApiError',
    body = {},
    headers = {},
  }: { readonly type?: ErrorBody['type'] } & Omit<FailureDetails, 'cause'> = {},
): ErrorAnswer {
  return { status, body: { type, message, ...body }, headers };
}

/** A body whose members are wrong, by name: what form fields show. */
export function invalidMembers(members: Readonly<Record<string, readonly string[]>>): Failure {
  const errors = Object.fromEntries(
    Object.entries(members).map(([name, texts]) => [name, texts.map((error) => ({ error }))]),
  );
  return failure('API_MEMBERS_INVALID', 'Validation failed!', { body: { validation_errors: errors } });
}
