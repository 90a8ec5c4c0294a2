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
  API_REQUEST_INVALID: {
    retryable: false,
    status: 400,
    exitCode: 2,
    summary: 'The request to the running Sluice was not understood.',
  },
});
