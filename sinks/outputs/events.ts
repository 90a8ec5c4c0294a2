import { defineEvents } from '../../core/events.js';

export const senderEvents = defineEvents({
  outputTroubled: {
    level: 'warn',
    message: 'an output has trouble',
    fields: { output: 'text', error: 'text', suppressed: 'number' },
  },
});
