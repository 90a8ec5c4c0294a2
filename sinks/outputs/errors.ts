import { defineErrors } from '../../core/errors.js';

export const outputErrors = defineErrors({
  OUTPUT_UNREACHABLE: {
    retryable: true,
    summary: 'The destination cannot be connected; its messages wait, and it is tried again.',
  },
  OUTPUT_TIMED_OUT: { retryable: true, summary: 'The destination took nothing for too long; it is connected anew.' },
  OUTPUT_CLOSED: {
    retryable: true,
    summary: 'The destination closed the connection; what was not confirmed is sent again.',
  },
  OUTPUT_TLS_REFUSED: {
    retryable: true,
    summary: 'TLS with the destination failed; see to its certificate and to the settings under tls.',
  },
  OUTPUT_FILE_UNREADABLE: { retryable: true, summary: 'A file that the output needs cannot be read.' },
  OUTPUT_ANSWER: {
    retryable: true,
    summary: 'The destination answered with an error; the messages wait and are sent again.',
  },
  OUTPUT_LOOP: {
    retryable: false,
    summary:
      'The output points back at a receiver of its own; it is stopped until its settings change, since every message would go round for ever.',
  },
  OUTPUT_STOPPED: { retryable: true, summary: 'The output is stopping.' },
});
