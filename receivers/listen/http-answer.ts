/** Answers of the GELF HTTP receiver. Every error body has `type` and `message`. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SluiceError } from '../../core/errors.js';
import { listenErrors } from './errors.js';

/** One message of a body that was not taken. */
export interface RefusedMessage {
  /** Its position in the body, from 0. */
  readonly index: number;
  readonly code: string;
  readonly reason: string;
}

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const extraHeaders: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  RECEIVER_TOKEN_WRONG: { 'WWW-Authenticate': 'Bearer realm="gelf"' },
  RECEIVER_METHOD_NOT_ALLOWED: { Allow: 'POST' },
  RECEIVER_FULL: { 'Retry-After': '1' },
  RECEIVER_STOPPING: { 'Retry-After': '5', Connection: 'close' },
};

/** An error that declares no status is the message's own fault. */
export function errorAnswer(error: SluiceError): Answer {
  const body = { type: error.code, message: error.message };
  return { status: error.status ?? 400, body, headers: extraHeaders[error.code] ?? {} };
}

export function sendAnswer(response: ServerResponse, answer: Answer): void {
  if (response.headersSent || response.destroyed) return;
  const body = answer.body === undefined ? '' : JSON.stringify(answer.body);
  response.writeHead(answer.status, {
    ...answer.headers,
    ...(body === '' ? {} : { 'Content-Type': 'application/json; charset=utf-8' }),
    ...(answer.status === 204 ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
  });
  response.end(body);
}

/** The whole answer as bytes, for requests that never became one. */
export function rawAnswer(error: SluiceError): string {
  const { status, body } = errorAnswer(error);
  const text = JSON.stringify(body);
  const reason =
    status === 431 ? 'Request Header Fields Too Large' : status === 408 ? 'Request Timeout' : 'Bad Request';
  return `HTTP/1.1 ${status} ${reason}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

/** Compared by digest, so that neither content nor length shows in the time it takes. */
function tokenMatches(header: string | undefined, token: string): boolean {
  const given = /^Bearer +(.+)$/i.exec(header ?? '')?.[1] ?? '';
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given.trim()), digest(token));
}

/** Headers of an answer to a browser of another origin. */
export function corsHeaders(request: IncomingMessage): Record<string, string> {
  const origin = request.headers.origin;
  return origin === undefined ? {} : { 'Access-Control-Allow-Origin': origin, Vary: 'Origin' };
}

export function preflightAnswer(request: IncomingMessage): Answer {
  const headers = {
    ...corsHeaders(request),
    'Access-Control-Allow-Methods': 'POST',
    'Access-Control-Allow-Headers': 'Authorization, Content-Type, Content-Encoding',
    'Access-Control-Max-Age': '600',
  };
  return { status: 204, headers };
}

/** Why a request is not answered by reading its body; undefined when it is to be read. */
export function checkRequest(request: IncomingMessage, token: string): SluiceError | undefined {
  const path = (request.url ?? '').split('?', 1)[0];
  if (token !== '' && !tokenMatches(request.headers.authorization, token))
    return listenErrors.create('RECEIVER_TOKEN_WRONG');
  if (path !== '/gelf') return listenErrors.create('RECEIVER_PATH_UNKNOWN', { got: (path ?? '').slice(0, 200) });
  return request.method === 'POST'
    ? undefined
    : listenErrors.create('RECEIVER_METHOD_NOT_ALLOWED', { got: request.method });
}
