import { defineErrors } from '../core/errors.js';

export const objectErrors = defineErrors({
  OBJECT_UNKNOWN: { retryable: false, status: 404, summary: 'There is no such object.' },
  OBJECT_EXISTS: { retryable: false, status: 409, summary: 'The id is taken by another object of this kind.' },
  OBJECT_FROM_FILE: {
    retryable: false,
    status: 409,
    summary: 'The object stands in a file and is changed there; the API only shows it.',
  },
  OBJECT_SHIPPED: {
    retryable: false,
    status: 409,
    summary: 'The object ships with the program: it can be changed or paused, not deleted.',
  },
  OBJECT_INVALID: { retryable: false, status: 400, summary: 'The change does not fit, and nothing was stored.' },
  OBJECT_TEXT_INVALID: {
    retryable: false,
    status: 400,
    summary: 'The text of a pipeline rule or of a pipeline cannot be used as it is, and nothing was stored.',
  },
  OBJECT_CONFLICT: {
    retryable: true,
    status: 409,
    summary:
      'Somebody else changed objects at the same moment, and nothing was stored; read again and repeat the change.',
  },
  OBJECT_LIMIT: {
    retryable: false,
    status: 400,
    summary: 'There are as many objects of this kind, or as large ones, as may be kept.',
  },
  OBJECT_PORT_TAKEN: {
    retryable: true,
    summary: 'The settings file lets something else listen at the port of this receiver: change one of them.',
  },
  OBJECTS_UNAVAILABLE: {
    retryable: false,
    summary:
      'This process has no shared state, so that it cannot keep objects; ask a process with the role processor or api.',
  },
});
