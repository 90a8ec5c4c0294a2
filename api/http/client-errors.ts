/** Answers to what is no request: bytes that are not HTTP, a head that is too long, a request that does not end. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

const statuses: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The head of the request is too long.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not come in whole in time.'],
};

/** A failed TLS handshake comes here too, its socket already gone. */
export function answerClientError({ code = '' }: { readonly code?: string }, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const [status, message] = statuses[code] ?? [400, 'The request is not valid HTTP.'];
  const body = JSON.stringify({ type: 'ApiError', message });
  socket.write(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
  // One who does not close his side would otherwise hold the connection for ever.
  socket.destroySoon();
}
