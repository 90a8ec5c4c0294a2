/** An answer that is not success, thrown anywhere in a handler: `throw failure(404, 'There is no such view.')`. */
import type { ErrorBody } from './contract.js';

const brand = Symbol('sluice.api.failure');

export interface FailureDetails {
  readonly type?: ErrorBody['type'];
  /** Further members of the body. */
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

export interface Failure extends Error {
  readonly [brand]: true;
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

export function failure(
  status: number,
  message: string,
  { type = 'ApiError', body = {}, headers = {}, cause }: FailureDetails = {},
): Failure {
  return Object.assign(new Error(message, { cause }), {
    [brand]: true as const,
    status,
    body: { type, message, ...body },
    headers,
  });
}

export function isFailure(value: unknown): value is Failure {
  return typeof value === 'object' && value !== null && brand in value;
}

/** A body whose members are wrong, by name: what form fields show. */
export function invalidMembers(members: Readonly<Record<string, readonly string[]>>): Failure {
  const errors = Object.fromEntries(
    Object.entries(members).map(([name, texts]) => [name, texts.map((error) => ({ error }))]),
  );
  return failure(400, 'Validation failed!', { type: 'ValidationApiError', body: { validation_errors: errors } });
}
