/** Answers to what is no request: bytes that are not HTTP, a head that is too long, a request that does not end. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { answerKinds, type AnswerCode } from './errors.js';

/** Codes of Node's HTTP parser. */
const codes: Readonly<Record<string, AnswerCode>> = {
  HPE_HEADER_OVERFLOW: 'API_HEAD_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'API_REQUEST_TIMEOUT',
};

/** A failed TLS handshake comes here too, its socket already gone. */
export function answerClientError({ code = '' }: { readonly code?: string }, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { status, summary: message } = answerKinds[codes[code] ?? 'API_NOT_HTTP'];
  const body = JSON.stringify({ type: 'ApiError', message });
  socket.write(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
  // Otherwise a client that never closes its side would keep the connection open.
  socket.destroySoon();
}
