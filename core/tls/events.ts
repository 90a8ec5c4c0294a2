import { defineEvents } from '../events.js';

export const certificateEvents = defineEvents({
  certificateReloaded: {
    level: 'info',
    message: 'The changed certificate is in use.',
    fields: { receiver: 'text?', listener: 'text?', cert_file: 'text' },
  },
  certificateRefused: {
    level: 'error',
    message: 'The changed certificate cannot be used; the previous one stays.',
    fields: { receiver: 'text?', listener: 'text?', cert_file: 'text', error: 'text' },
  },
});
