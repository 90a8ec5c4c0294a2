import { defineErrors } from '../core/errors.js';

export const apiErrors = defineErrors({
  API_PORT_TAKEN: {
    retryable: false,
    exitCode: 2,
    summary: 'The port is in use by another program; stop that program or choose another port.',
  },
  API_ADDRESS_INVALID: { retryable: false, exitCode: 2, summary: 'The address cannot be listened on.' },
  API_TLS_INVALID: { retryable: false, exitCode: 2, summary: 'The certificate of the API cannot be used.' },
  API_SOCKET_UNUSABLE: { retryable: false, exitCode: 2, summary: 'The control socket cannot be opened.' },
  API_NOT_RUNNING: {
    retryable: true,
    exitCode: 2,
    summary:
      'No running Sluice answers on the control socket; start it with `npm start`, or name its data folder with --config.',
  },
  API_ROUTE_INCOMPLETE: {
    retryable: false,
    exitCode: 2,
    summary: 'A route of the API lacks what every route declares.',
  },
  SEARCH_INDEX_SET: { retryable: false, status: 400, exitCode: 2, summary: 'There is no such index set.' },
  DEAD_LETTER_UNKNOWN: { retryable: false, status: 404, exitCode: 2, summary: 'There is no dead letter with this id.' },
  DEAD_LETTER_SELECTION_MISSING: {
    retryable: false,
    status: 400,
    exitCode: 2,
    summary: 'Nothing says which dead letters are meant; name ids or filters, or say --all.',
  },
  API_REQUEST_INVALID: {
    retryable: false,
    status: 400,
    exitCode: 2,
    summary: 'The request to the running Sluice was not understood.',
  },
});
