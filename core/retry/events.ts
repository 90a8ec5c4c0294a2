import { defineEvents } from '../events.js';

export const retryEvents = defineEvents({
  attemptRepeated: { level: 'warn', message: (what) => `${what}; trying again`, fields: { error: 'text' } },
});
