/** Every error becomes one JSON body: the asker's mistakes say what is wrong, ours say nothing of the inside. */
import { randomUUID } from 'node:crypto';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { errorText, isForAsker, isSluiceError, type SluiceError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { answerKinds } from './errors.js';
import { errorAnswer, isFailure, type ErrorAnswer } from './failure.js';
import { apiEvents } from '../events.js';

/** Statuses of Fastify's own errors whose text is meant for whoever asked. */
const fastifyStatuses = new Set([400, 404, 406, 411, 413, 414, 415, 431]);

export function createErrorAnswer(
  log: Log,
): (error: unknown, request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return async (error, request, reply) => {
    const answer = answerOf(error, request, log);
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

function answerOf(error: unknown, request: FastifyRequest, log: Log): ErrorAnswer {
  if (isFailure(error)) return error;
  if (isForAsker(error)) return declaredAnswer(error, request, log);
  if (isSluiceError(error)) return error.retryable ? notNow(error, request, log) : unexpected(error, request, log);
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
    const text =
      typeof unknown === 'string'
        ? `${message}: there is no ${JSON.stringify(unknown.slice(0, 100))}`
        : String(message);
    return errorAnswer(400, text, { type: 'RequestError', body: { path } });
  }
  if (fastifyStatuses.has(statusCode))
    return errorAnswer(statusCode, String(message), statusCode === 400 ? { type: 'RequestError' } : {});
  return unexpected(error, request, log);
}

/**
 * An error that declares its status: the text is sent as it is, but for credentials, where it would say what was wrong
 * with them.
 */
function declaredAnswer(
  error: SluiceError & { readonly status: number },
  request: FastifyRequest,
  log: Log,
): ErrorAnswer {
  if (error.status === 503) return notNow(error, request, log);
  if (error.status === 401) return errorAnswer(401, answerKinds.API_UNAUTHENTICATED.summary);
  const { retryAfterMs } = error as { readonly retryAfterMs?: number };
  return errorAnswer(error.status, error.message, {
    type: error.status === 400 ? 'RequestError' : 'ApiError',
    body: { code: error.code },
    headers: retryAfterMs === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) },
  });
}

function notNow(error: SluiceError, request: FastifyRequest, log: Log): ErrorAnswer {
  apiEvents.requestRefused(log, { error: errorText(error), code: error.code, path: request.routeOptions.url });
  const text = isForAsker(error) ? error.message : 'This cannot be answered at the moment; try again.';
  return errorAnswer(503, text, { body: { code: error.code }, headers: { 'retry-after': '1' } });
}

function unexpected(error: unknown, request: FastifyRequest, log: Log): ErrorAnswer {
  const reference = randomUUID();
  apiEvents.requestFailed(log, {
    error: errorText(error),
    reference,
    method: request.method,
    path: request.routeOptions.url,
  });
  return errorAnswer(500, `Something went wrong on our side. The log names it under ${reference}.`);
}
