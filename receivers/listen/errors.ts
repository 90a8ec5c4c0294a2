import { defineErrors } from '../../core/errors.js';

/** Errors of the listeners: what stops a receiver from starting, and what a GELF HTTP sender is answered. */
export const listenErrors = defineErrors({
  RECEIVER_PORT_TAKEN: {
    retryable: true,
    exitCode: 2,
    summary: 'The port is in use by another program; stop it or choose another port.',
  },
  RECEIVER_ADDRESS_INVALID: { retryable: false, exitCode: 2, summary: 'The address or port cannot be listened on.' },
  RECEIVER_TLS_INVALID: { retryable: false, exitCode: 2, summary: 'The TLS settings of the receiver cannot be used.' },
  RECEIVER_TYPE_UNKNOWN: { retryable: false, exitCode: 2, summary: 'There is no receiver of this type.' },
  RECEIVER_FAILED: {
    retryable: true,
    status: 500,
    summary: 'The request could not be handled; the log of the receiver says why.',
  },
  RECEIVER_DOCUMENTS_TOO_MANY: {
    retryable: false,
    status: 413,
    summary: 'One frame or request holds too many messages; send several.',
  },
  RECEIVER_BODY_INVALID: {
    retryable: false,
    status: 400,
    summary: 'The body is neither a GELF message, nor lines of them, nor a JSON array of them.',
  },
  RECEIVER_BODY_EMPTY: { retryable: false, status: 400, summary: 'The body holds no message.' },
  RECEIVER_BODY_TOO_LARGE: { retryable: false, status: 413, summary: 'The body is larger than the receiver takes.' },
  RECEIVER_BODY_CUT: { retryable: true, status: 400, summary: 'The connection ended before the body did.' },
  RECEIVER_MESSAGES_REFUSED: { retryable: false, status: 400, summary: 'No message of the body is acceptable.' },
  RECEIVER_ENCODING_UNSUPPORTED: { retryable: false, status: 415, summary: 'The content encoding is not supported.' },
  RECEIVER_METHOD_NOT_ALLOWED: { retryable: false, status: 405, summary: 'Messages are sent with POST.' },
  RECEIVER_PATH_UNKNOWN: {
    retryable: false,
    status: 404,
    summary: 'There is nothing at this path; messages go to POST /gelf.',
  },
  RECEIVER_TOKEN_WRONG: {
    retryable: false,
    status: 401,
    summary: 'The request needs the header Authorization: Bearer <token>.',
  },
  RECEIVER_REQUEST_INVALID: { retryable: false, status: 400, summary: 'The request is not valid HTTP.' },
  RECEIVER_REQUEST_TIMEOUT: { retryable: true, status: 408, summary: 'The request took too long to arrive.' },
  RECEIVER_HEADER_TOO_LARGE: { retryable: false, status: 431, summary: 'The request header is too large.' },
  RECEIVER_FULL: { retryable: true, status: 429, summary: 'The pipeline is full; send again later.' },
  RECEIVER_STOPPING: { retryable: true, status: 503, summary: 'The receiver is stopping; send again later.' },
});
