/** Every error becomes one JSON body: the asker's mistakes say what is wrong, ours say nothing of the inside. */
import { randomUUID } from 'node:crypto';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { errorText, isSluiceError, type SluiceError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { accessStatuses } from './access-statuses.js';
import type { ErrorBody } from './contract.js';
import { failure, isFailure, type Failure } from './failure.js';

/** Status of the error codes of other folders. The rest of SEARCH_ and RULES_ are the asker's mistakes; what remains is 503 when retryable, else 500 without details. */
const statuses: Readonly<Record<string, number>> = {
  ...accessStatuses,
  SEARCH_QUEUE_FULL: 503,
  SEARCH_DEADLINE_EXCEEDED: 504,
  SEARCH_CANCELLED: 409,
  STATE_CONFLICT: 409,
  API_REQUEST_INVALID: 400,
  PIPELINE_INDEX_UNKNOWN: 404,
  PIPELINE_INDEX_IN_USE: 403,
  PIPELINE_INDEX_CHANGED: 409,
  OBJECT_UNKNOWN: 404,
  OBJECT_EXISTS: 409,
  OBJECT_FROM_FILE: 409,
  OBJECT_SHIPPED: 409,
  OBJECT_INVALID: 400,
  OBJECT_TEXT_INVALID: 400,
  OBJECT_CONFLICT: 409,
  OBJECT_LIMIT: 400,
  DEAD_LETTER_UNKNOWN: 404,
  DEAD_LETTER_SELECTION_MISSING: 400,
};

/** Of Fastify's own errors: those whose text is for the asker. */
const askersStatuses = new Set([400, 404, 406, 411, 413, 414, 415, 431]);

export function createErrorAnswer(
  log: Log,
): (error: unknown, request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return async (error, request, reply) => {
    const answer = asFailure(error, request, log);
    if (reply.raw.headersSent) {
      reply.raw.destroy();
      return;
    }
    const challenge =
      answer.status === 401 && request.headers['x-requested-with'] !== 'XMLHttpRequest'
        ? { 'www-authenticate': 'Basic realm="Sluice", charset="UTF-8"' }
        : {};
    await reply
      .code(answer.status)
      .headers({ ...challenge, ...answer.headers })
      .type('application/json; charset=utf-8')
      .serializer(JSON.stringify)
      .send(answer.body);
  };
}

function asFailure(error: unknown, request: FastifyRequest, log: Log): Failure {
  if (isFailure(error)) return error;
  if (isSluiceError(error)) return ofSluice(error, request, log);
  const {
    statusCode = 500,
    validation,
    validationContext,
    message,
  } = error as Partial<FastifyError> & { readonly validationContext?: string };
  if (validation !== undefined) {
    const { instancePath = '', params } = validation[0] ?? {};
    const { additionalProperty: unknown } = (params ?? {}) as { readonly additionalProperty?: unknown };
    const path = `${validationContext ?? 'body'}${instancePath.replaceAll('/', '.')}`;
    return requestError(
      400,
      typeof unknown === 'string'
        ? `${message}: there is no ${JSON.stringify(unknown.slice(0, 100))}`
        : String(message),
      { path },
    );
  }
  if (askersStatuses.has(statusCode))
    return statusCode === 400 ? requestError(400, String(message), {}) : failure(statusCode, String(message));
  return unexpected(error, request, log);
}

function requestError(status: number, message: string, more: Readonly<Record<string, unknown>>): Failure {
  return failure(status, message, { type: 'RequestError', body: more });
}

function ofSluice(error: SluiceError, request: FastifyRequest, log: Log): Failure {
  const status = statuses[error.code] ?? (error.retryable ? 503 : /^(?:SEARCH|RULES)_/.test(error.code) ? 400 : 500);
  if (status === 500) return unexpected(error, request, log);
  if (status === 503) {
    log.warn(
      { error: errorText(error), code: error.code, path: request.routeOptions.url },
      'a request could not be answered now',
    );
    return failure(
      503,
      error.code.startsWith('SEARCH_') || error.code.startsWith('ACCESS_')
        ? error.message
        : 'This cannot be answered at the moment; try again.',
      { body: { code: error.code }, headers: { 'retry-after': '1' } },
    );
  }
  if (status === 401) return failure(401, 'Credentials are missing or wrong.');
  const { retryAfterMs } = error as { readonly retryAfterMs?: number };
  const headers =
    retryAfterMs === undefined ? undefined : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) };
  const type: ErrorBody['type'] = status === 400 ? 'RequestError' : 'ApiError';
  return failure(status, error.message, {
    type,
    body: { code: error.code },
    ...(headers === undefined ? {} : { headers }),
  });
}

function unexpected(error: unknown, request: FastifyRequest, log: Log): Failure {
  const reference = randomUUID();
  log.error(
    { error: errorText(error), reference, method: request.method, path: request.routeOptions.url },
    'a request failed',
  );
  return failure(500, `Something went wrong on our side. The log names it under ${reference}.`);
}
